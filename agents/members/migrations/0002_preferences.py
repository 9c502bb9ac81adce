from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="member",
            name="compress_tool_results",
            field=models.BooleanField(
                default=False, help_text="Agents read long results of tools shortened."
            ),
        ),
        migrations.AddField(
            model_name="member",
            name="default_during_run",
            field=models.CharField(
                choices=[("steer", "Steer"), ("queue", "Queue")], default="steer", max_length=8
            ),
        ),
        migrations.AddField(
            model_name="member",
            name="plain_speak",
            field=models.BooleanField(default=False, help_text="Agents answer in plain words."),
        ),
    ]
