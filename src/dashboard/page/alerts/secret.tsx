import { useState } from 'preact/hooks';
import { CopyValue } from '../ui/copy-value.tsx';
import { Section } from '../ui/section.tsx';

/** What receivers verify alerts with; not on the screen unless asked for. */
export function Secret({ value }: { value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <Section title="Signature">
      <p>Alerts are signed as Standard Webhooks says. A receiver verifies them with this account's secret.</p>
      {isShown ? (
        <CopyValue label="Webhook secret" value={value} />
      ) : (
        <button type="button" onClick={() => setShown(true)}>
          Show the secret
        </button>
      )}
    </Section>
  );
}
