from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scheduler_app', '0002_quotarow_unit'),
    ]

    operations = [
        migrations.CreateModel(
            name='HealthRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at_ms', models.BigIntegerField(db_index=True)),
                ('node', models.CharField(max_length=253)),
                ('gpu', models.CharField(max_length=253)),
                ('healthy', models.BooleanField()),
            ],
            options={
                'verbose_name': 'change of health',
                'verbose_name_plural': 'changes of health',
                'ordering': ('-at_ms', '-id'),
                'indexes': [models.Index(fields=['node', '-at_ms'], name='health_of_a_node')],
            },
        ),
    ]
