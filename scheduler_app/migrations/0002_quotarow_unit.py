from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scheduler_app', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='quotarow',
            name='unit',
            field=models.CharField(blank=True, max_length=32),
        ),
    ]
