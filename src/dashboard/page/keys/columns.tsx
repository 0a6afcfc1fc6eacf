import type { KeyView } from '../../../api/keys/key-view.ts';
import { KEY_STATUSES } from '../../../domain/key-status.ts';
import { PERIOD_WORDS } from '../../../domain/limit-periods.ts';
import { rounded } from '../format/amount.ts';
import { agoWords } from '../format/duration.ts';
import { dateOf } from '../format/time.ts';
import { STATUSES, thisPeriod } from '../format/words.ts';
import { isReached, usedPart } from '../limits/what-is-left.tsx';
import type { Scope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Ago, Badge, Bar } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import type { Column } from '../ui/table.tsx';
import { isOwnKey } from './key-api.ts';
import { ownerOf, restrictionsOf, tightest } from './key-words.ts';

/** Columns of the list of keys; a list of one person's keys has no owners. */
export function keyColumns(scope: Scope): readonly Column<KeyView>[] {
  const isOfOne = scope.reach('read keys') !== 'all';
  return COLUMNS(scope).filter(({ id }) => id !== 'owner' || !isOfOne);
}

const COLUMNS = (scope: Scope): readonly Column<KeyView>[] => [
  {
    id: 'name',
    title: 'Name',
    cell: (key) => (
      <span>
        <PageLink to={`keys/${key.id}`}>{key.name}</PageLink>{' '}
        {isOwnKey(scope, key) && <Badge kind="plain">Signed in</Badge>}{' '}
        {key.can_manage && <Badge kind="plain">Manages</Badge>}{' '}
        {key.previous_valid_until !== null && <Badge kind="warning">2 values</Badge>}
        <span className="sub">
          <code>{key.prefix}…</code>
        </span>
      </span>
    ),
    sort: ({ name }) => name,
    csv: ({ name }) => name,
  },
  {
    id: 'owner',
    title: 'Owner',
    cell: ownerOf,
    sort: (key) => ownerOf(key),
    csv: ownerOf,
  },
  {
    id: 'status',
    title: 'Status',
    phone: 'figure',
    cell: ({ status }) => {
      const [words, kind] = STATUSES[status];
      return <Badge kind={kind}>{words}</Badge>;
    },
    sort: ({ status }) => String(KEY_STATUSES.indexOf(status)),
    csv: ({ status }) => status,
  },
  {
    id: 'spend',
    title: 'Spent / limit',
    cell: (key) => <Spent of={key} />,
    sort: (key) => Number(tightest(key)?.spent ?? key.spending_current),
    kind: 'number',
    csv: ({ spending_current }) => spending_current,
  },
  {
    id: 'used',
    title: 'Last used',
    cell: ({ last_used_at: at }) => (at === null ? 'Never' : <Ago at={at} words={agoWords(at)} />),
    sort: ({ last_used_at: at }) => at ?? '',
    csv: ({ last_used_at }) => last_used_at ?? '',
  },
  {
    id: 'restrictions',
    title: 'Restrictions',
    from: 'wide',
    phone: 'hidden',
    cell: (key) => <Restrictions of={key} />,
    sort: (key) => restrictionsOf(key).join(', '),
  },
  {
    id: 'expires',
    title: 'Expires',
    from: 'wide',
    cell: ({ expires_at: at }) => (at === null ? 'Never' : <Ago at={at} words={dateOf(at)} />),
    // Never comes last.
    sort: ({ expires_at }) => expires_at ?? '9',
    csv: ({ expires_at }) => expires_at ?? '',
  },
];

/** Spend of the limit nearest its end; without limits, the spend of the period. */
function Spent({ of: key }: { of: KeyView }) {
  const limit = tightest(key);
  if (limit?.spent == null) {
    return (
      <div>
        <Amount of={key.spending_current} isInRow />
        <span className="sub">{thisPeriod(key.spending_period)}</span>
      </div>
    );
  }
  return (
    <div>
      <Amount of={limit.spent} isInRow /> / {rounded(limit.credits)}
      <span className="sub">{PERIOD_WORDS[limit.period]}</span>
      <Bar part={usedPart(limit)} full={isReached(limit)} />
    </div>
  );
}

/** Restrictions that the cell names; the key's page has all. */
const NAMED = 2;

function Restrictions({ of: key }: { of: KeyView }) {
  const words = restrictionsOf(key);
  if (words.length === 0) return 'None';
  const more = words.length - NAMED;
  return (
    <>
      {words.slice(0, NAMED).join(', ')}
      {more > 0 && <span className="sub">and {more} more</span>}
    </>
  );
}
