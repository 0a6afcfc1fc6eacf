import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import { rowAt, WIRE_NAMES } from '../../../domain/key-settings.ts';
import { type Checked, Detail } from './detail.tsx';

/** Display names of the checks, by their names in the API. */
const CHECK_NAMES: Readonly<Record<string, string>> = {
  authorization: 'Key is sent',
  known_key: 'Key is known',
  is_active: 'Key is active',
  account_active: 'Account is active',
  request: 'Model and endpoint',
  member_spending_limits: "Member's spending limits",
  account_spending_limits: "Account's spending limits",
  credits: 'Credits',
  ...Object.fromEntries(
    WIRE_NAMES.map(rowAt).flatMap((row) => (row.restricts ? [[row.wire, row.check]] : [])),
  ),
};

const OUTCOMES = {
  passed: { sign: '✓', word: 'passed', kind: 'check-passed' },
  failed: { sign: '✕', word: 'failed', kind: 'check-failed' },
  not_checked: { sign: '–', word: 'not checked', kind: 'check-open' },
} as const;

/** List of the checks in their order; the first that fails decides the answer to the call. */
export function Verdict({
  of: { allowed, code, checks },
  checked,
}: {
  of: ExplanationView;
  checked: Checked;
}) {
  const deciding = checks.findIndex(({ passed }) => !passed);
  return (
    <section className="card">
      <h2 className={allowed ? 'verdict verdict-good' : 'verdict verdict-bad'}>
        {allowed ? (
          'The call would be accepted'
        ) : (
          <>
            The call would be refused: <code>{code}</code>
          </>
        )}
      </h2>
      <ol className="checks">
        {checks.map((result, index) => {
          const outcome = OUTCOMES[result.state];
          const isDeciding = index === deciding;
          return (
            <li key={result.check} className={`check ${outcome.kind} ${isDeciding ? 'check-deciding' : ''}`}>
              <span className="check-sign" aria-hidden="true">
                {outcome.sign}
              </span>
              <div>
                <p className="check-name">
                  {CHECK_NAMES[result.check] ?? result.check}{' '}
                  <span className="check-word">{outcome.word}</span>
                  {isDeciding && <strong className="check-word"> – this is the response</strong>}
                </p>
                <Detail of={result} checked={checked} />
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
