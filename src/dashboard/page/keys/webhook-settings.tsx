import { TextField } from '../ui/field.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { SettingGroup } from './setting-group.tsx';

export function WebhookSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <SettingGroup title="Webhook" words="The low-credits alert of the account, sent to a URL of this key.">
      <TextField
        name="webhook_url"
        label="Webhook URL"
        hint={
          <>
            Receives a POST when the account falls below its alert threshold. Leave empty for none. Test it
            under <a href="#/alerts">Alerts</a>.
          </>
        }
        error={errors.webhook_url}
        value={draft.webhookUrl}
        onValue={(webhookUrl) => change({ webhookUrl })}
        input={{ type: 'url', placeholder: 'https://example.com/hook', spellCheck: 'false' }}
      />
    </SettingGroup>
  );
}
