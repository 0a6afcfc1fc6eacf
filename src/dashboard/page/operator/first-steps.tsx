import type { OperatorModelView } from '../../../api/models/model-view.ts';
import { Section } from '../ui/elements.tsx';

/** The three things that a fresh operator does next, each until it is done; nothing once all are. */
export function FirstSteps({ accounts, models }: { accounts: number; models: readonly OperatorModelView[] }) {
  const hasProvider = models.some(({ targets }) => targets.some((target) => !target.startsWith('demo')));
  const hasMarkup = models.some(({ price, list_price }) => list_price && different(price, list_price));
  // The demo has one account of its own.
  const steps = [
    [
      hasProvider,
      'Set a provider key',
      <>
        Start the gateway with <code>OPENAI_API_KEY</code> or another provider's variable.{' '}
        <a href="#/providers">Providers</a> then shows it.
      </>,
    ],
    [
      accounts > 1,
      'Create an account',
      <>
        Each customer or team has an account with credits and keys.{' '}
        <a href="#/accounts/new">Create account</a>
      </>,
    ],
    [
      hasMarkup,
      'Choose a markup',
      <>
        Set <code>pricing.markup</code> in the configuration; without it you charge what providers take.{' '}
        <a href="#/models">Models</a> shows both prices.
      </>,
    ],
  ] as const;
  if (hasProvider && accounts > 1) return null;
  return (
    <Section title="What to do next">
      <ol className="steps">
        {steps.map(([isDone, title, words]) => (
          <li key={title} className={isDone ? 'step-done' : undefined}>
            <strong>
              {isDone ? '✓ ' : ''}
              {title}
            </strong>
            <p className="hint">{isDone ? 'Done.' : words}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function different(price: object, list: object): boolean {
  return JSON.stringify(price) !== JSON.stringify(list);
}
