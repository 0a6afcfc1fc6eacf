import { useQuery } from '@tanstack/react-query';
import type { AttentionItemView } from '../../../api/attention/attention-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { type Scope, useScope } from '../session/scope.ts';
import type { Choices } from '../ui/choices.ts';
import { Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Failure } from '../ui/note.tsx';

/** What needs attention in the scope, worst first, each with the one thing to do about it. */
export function Attention() {
  const scope = useScope();
  // The list of an account is for its people; the operator has one list for all accounts.
  return scope.kind === 'operated' ? null : <AttentionList scope={scope} />;
}

function AttentionList({ scope }: { scope: Scope }) {
  const { data, error, refetch } = useQuery({
    ...read<{ items: readonly AttentionItemView[]; total: number }>(scope, `${scope.api}attention/`),
    refetchInterval: POLL_MS,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <p className="attention-none">Checking what needs attention…</p>;
  if (data.items.length === 0) {
    return (
      <p className="attention-none attention-good">
        <span aria-hidden="true">✓</span> Nothing needs your attention.
      </p>
    );
  }
  const more = data.total - data.items.length;
  return (
    <section className="attention" aria-label="Needs attention">
      <ul>
        {data.items.map((item) => (
          <li key={`${item.kind} ${item.subject.type} ${item.subject.id} ${item.subject.name} ${item.until}`}>
            <Item of={item} scope={scope} />
          </li>
        ))}
      </ul>
      {more > 0 && <p className="attention-none">and {count(more)} more</p>}
    </section>
  );
}

function Item({ of: item, scope }: { of: AttentionItemView; scope: Scope }) {
  const { isBad, act } = KINDS[item.kind] ?? UNKNOWN;
  const { words, to, choices } = act(item, scope) ?? {};
  return (
    <>
      <span className={isBad ? 'attention-sign attention-bad' : 'attention-sign'} aria-hidden="true">
        !
      </span>
      <p>
        <Message text={item.message} />
        {item.since !== null && (
          <small>
            {' '}
            Since <Time at={item.since} brief />.
          </small>
        )}
      </p>
      {to !== undefined && (
        <PageLink to={to} choices={choices ?? {}} className="attention-act">
          {words}
        </PageLink>
      )}
    </>
  );
}

const TIMESTAMP = /\b(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A message of the gateway, its timestamps in the reader's zone. */
export function Message({ text }: { text: string }) {
  return text
    .split(TIMESTAMP)
    .map((part, index) => (index % 2 === 1 ? <Time key={index} at={part} brief /> : part));
}

interface Act {
  readonly words: string;
  readonly to: string;
  readonly choices?: Choices;
}

/** How a kind is shown: whether calls fail because of it now, and what to do about it. */
interface KindOfItem {
  readonly isBad: boolean;
  readonly act: (item: AttentionItemView, scope: Scope) => Act | undefined;
}

const topUp: KindOfItem['act'] = (_item, scope) =>
  scope.reach('read the ledger') === 'all' ? { words: 'See the balance', to: 'billing' } : undefined;
const topUpAccount: KindOfItem['act'] = ({ subject }) => ({
  words: 'Top up',
  to: `/operator/accounts/${subject.id}/home`,
});
const health: KindOfItem['act'] = () => ({ words: 'Open Health', to: 'health' });
const provider: KindOfItem['act'] = () => ({ words: 'Open provider', to: 'providers' });

const KINDS: Readonly<Record<AttentionItemView['kind'], KindOfItem>> = {
  out_of_credits: { isBad: true, act: topUp },
  low_balance: { isBad: false, act: topUp },
  limit_reached: {
    isBad: true,
    act: ({ subject }, scope) => {
      const isKey = subject.type === 'key' && scope.can('change keys');
      if (isKey) return { words: 'Raise', to: `keys/${subject.id}` };
      if (subject.type === 'member' && scope.can('change members')) {
        return { words: 'Raise', to: 'members', choices: { member: String(subject.id) } };
      }
      return { words: 'See limits', to: 'limits' };
    },
  },
  calls_refused: {
    isBad: true,
    act: ({ subject, code, since }) => ({
      words: 'Open requests',
      to: 'requests',
      choices: {
        result: 'refused',
        key_id: String(subject.id),
        ...(code !== null && { code }),
        ...(since !== null && { from: since }),
      },
    }),
  },
  key_expires: {
    isBad: false,
    act: ({ subject }, scope) =>
      scope.can('read keys') ? { words: 'Open key', to: `keys/${subject.id}` } : undefined,
  },
  webhook_failed: { isBad: false, act: () => ({ words: 'Open alerts', to: 'alerts' }) },
  redis_not_durable: { isBad: true, act: health },
  journal_waiting: { isBad: true, act: health },
  credential_refused: { isBad: true, act: provider },
  provider_failing: { isBad: true, act: provider },
  account_out_of_credits: { isBad: true, act: topUpAccount },
  account_runs_dry: { isBad: false, act: topUpAccount },
  alerts_failing: { isBad: false, act: health },
  unknown_members: { isBad: false, act: health },
};

/** Of a newer gateway that this page does not know. */
const UNKNOWN: KindOfItem = { isBad: false, act: () => undefined };
