import type { Explanation } from '../api/keys.ts';

/** Checks by the names that the API gives them, in words. */
const CHECK_NAMES: Readonly<Record<string, string>> = {
  authorization: 'Key is sent',
  known_key: 'Key is known',
  is_active: 'Key is active',
  account_active: 'Account is active',
  expires_at: 'Not expired',
  active_hours: 'Active hours',
  allowed_ips: 'IP address',
  blocked_countries: 'Country',
  allowed_origins: 'Origin',
  request: 'Model and endpoint',
  allowed_categories: 'Modality',
  allowed_models: 'Allowed models',
  spending_limit: 'Spending limit',
  credits: 'Credits',
};

/** The checks in the order in which they count; the first that fails is what the call would be answered. */
export function Verdict({ of: { allowed, code, checks } }: { of: Explanation }) {
  const deciding = checks.findIndex(({ passed }) => !passed);
  return (
    <section class="card">
      <h2 class={allowed ? 'verdict verdict-good' : 'verdict verdict-bad'}>
        {allowed ? (
          'The call would be let through'
        ) : (
          <>
            The call would be refused: <code>{code}</code>
          </>
        )}
      </h2>
      <ol class="checks">
        {checks.map(({ check, passed, detail }, index) => (
          <li
            key={check}
            class={`check ${passed ? 'check-passed' : 'check-failed'} ${index === deciding ? 'check-deciding' : ''}`}
          >
            <span class="check-sign" aria-hidden="true">
              {passed ? '✓' : '✕'}
            </span>
            <div>
              <p class="check-name">
                {CHECK_NAMES[check] ?? check} <span class="check-word">{passed ? 'passed' : 'failed'}</span>
                {index === deciding && <strong class="check-word"> – this is what is answered</strong>}
              </p>
              <p class="hint">{detail}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
