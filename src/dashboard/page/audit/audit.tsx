import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { EntryView } from '../../../api/audit/audit-view.ts';
import type { MemberListView } from '../../../api/people/member-view.ts';
import { AUDIT_ACTIONS } from '../../../domain/audit.ts';
import { read } from '../data/query.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Empty, Time } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Choice, ClearFilters } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { Paged, useCursor } from '../ui/pager.tsx';
import { RangePicker, useRange } from '../ui/range.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { auditPath } from './audit-path.ts';
import { EntryPanel, Target } from './entry.tsx';
import { ACTION_WORDS, actorWords, targetWords } from './words.ts';

interface EntryPage {
  readonly entries: readonly EntryView[];
  readonly next: string | null;
}

const FILTERS = ['actor', 'target', 'action'];
const RANGES = ['24h', '7d', '30d', '90d'] as const;
const FALLBACK = '30d';

/** Page of what was done in an account, or by the operator in all: by whom, to what, and what changed. */
export default function AuditPage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const { actor, target, action } = choices;
  const { from, to } = useRange(FALLBACK);
  const before = useCursor();
  const filtered = { actor, target, action, from, to };
  const entries = useQuery({
    ...read<EntryPage>(scope, auditPath(scope, { ...filtered, before, limit: '50' })),
    placeholderData: keepPreviousData,
  });
  const shown = entries.data?.entries ?? [];
  return (
    <Page
      title="Audit"
      actions={<Export path={auditPath(scope, filtered)} file="audit" formats={['csv', 'jsonl']} />}
    >
      <search className="filters">
        <RangePicker names={RANGES} fallback={FALLBACK} />
        <ActorChoice entries={shown} />
        <Choice
          name="target"
          label="Target"
          none="Any"
          values={withChosen(target, [], (chosen) => {
            const entry = shown.find((one) => `${one.target.type}:${one.target.id}` === chosen);
            return entry && targetWords(entry.target);
          })}
        />
        <Choice
          name="action"
          label="Action"
          none="All"
          values={AUDIT_ACTIONS.map((known) => [known, ACTION_WORDS[known]])}
        />
        <ClearFilters names={FILTERS} />
      </search>
      <Shown of={entries}>
        {({ entries: rows, next }) => (
          <Paged label="Pages of the audit log" next={next} isLoading={entries.isFetching}>
            <Table
              label="Audit log"
              columns={columnsOf(scope)}
              rows={rows}
              rowKey={({ id }) => id}
              onOpen={({ id }) => choose({ entry: String(id) })}
              found={foundWords(rows.length, next !== null)}
              empty={<Empty title="No entries">Choose a longer range, or clear the filters.</Empty>}
            />
          </Paged>
        )}
      </Shown>
      {choices.entry !== undefined && (
        <EntryPanel id={Number(choices.entry)} onClose={() => choose({ entry: '' })} />
      )}
    </Page>
  );
}

function foundWords(shown: number, isPaged: boolean): string {
  const words = shown === 1 ? '1 entry' : `${shown} entries`;
  return isPaged ? `${words} on this page, and more` : words;
}

function columnsOf(scope: Scope): readonly Column<EntryView>[] {
  return [
    { id: 'when', title: 'When', cell: ({ at }) => <Time at={at} brief seconds /> },
    { id: 'who', title: 'Who', cell: ({ actor }) => actorWords(actor) },
    { id: 'what', title: 'What', phone: 'figure', cell: ({ action }) => ACTION_WORDS[action] },
    { id: 'target', title: 'Target', cell: (entry) => <Target of={entry} scope={scope} /> },
    { id: 'from', title: 'Address', from: 'wide', phone: 'hidden', cell: ({ ip }) => ip ?? '–' },
  ];
}

/** Filter by who did it. Other actors than people of the account are chosen in the details of an entry. */
function ActorChoice({ entries }: { entries: readonly EntryView[] }) {
  const scope = useScope();
  const { actor } = useChoices().choices;
  const members = useQuery({
    ...read<MemberListView>(scope, `${scope.api}members/`),
    enabled: scope.kind !== 'operator' && scope.can('read members'),
  });
  const people = members.data?.members.map(
    ({ person }) => [`person:${person.id}`, person.name || person.email] as const,
  );
  const known = [
    ...(people ?? []),
    ['operator:', 'Admin token or command line'],
    ['system:', 'The gateway'],
  ] as const;
  const nameOf = (chosen: string) => {
    const entry = entries.find((one) => `${one.actor.type}:${one.actor.id ?? ''}` === chosen);
    return entry && actorWords(entry.actor);
  };
  return <Choice name="actor" label="Who" none="Anyone" values={withChosen(actor, known, nameOf)} />;
}

type Value = readonly [value: string, name: string];

/** Values of a filter with the chosen one, which a link may have brought. */
function withChosen(
  chosen: string | undefined,
  values: readonly Value[],
  nameOf: (chosen: string) => string | undefined,
): readonly Value[] {
  if (!chosen || values.some(([value]) => value === chosen)) return values;
  return [...values, [chosen, nameOf(chosen) ?? chosen.replace(':', ' ')]];
}
