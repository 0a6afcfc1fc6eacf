import { useQuery } from '@tanstack/react-query';
import type { EntryView } from '../../../api/audit/audit-view.ts';
import { read } from '../data/query.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Empty, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { auditPath } from './audit-path.ts';
import { ACTION_WORDS, actorWords, fieldChanges, targetPlace, targetWords } from './words.ts';
import '../style/people.css';

/** Details of an entry: what changed, from where, and the way to others like it. */
export function EntryPanel({ id, onClose }: { id: number; onClose: () => void }) {
  const scope = useScope();
  // The newest entry below the id above it.
  const path = auditPath(scope, { before: String(id + 1), limit: '1' });
  const entry = useQuery(read<{ entries: readonly EntryView[] }>(scope, path));
  return (
    <Panel title={`Entry ${id}`} onClose={onClose}>
      <Shown of={entry}>
        {({ entries: [found] }) =>
          found?.id === id ? <Entry of={found} /> : <Empty title="The audit log has no such entry" />
        }
      </Shown>
    </Panel>
  );
}

function Entry({ of: entry }: { of: EntryView }) {
  const scope = useScope();
  const { actor, target } = entry;
  const changes = fieldChanges(entry);
  return (
    <div className="fields">
      <Facts>
        <Fact name="What">{ACTION_WORDS[entry.action]}</Fact>
        {targetWords(target) !== '' && (
          <Fact name="Target">
            <Target of={entry} scope={scope} />
          </Fact>
        )}
        {scope.kind === 'operator' && entry.account_id !== null && (
          <Fact name="Account">
            <PageLink to={`accounts/${entry.account_id}/home`}>Account {entry.account_id}</PageLink>
          </Fact>
        )}
        <Fact name="Who">{actorWords(actor)}</Fact>
        <Fact name="When">
          <Time at={entry.at} seconds />
        </Fact>
        <Fact name="Address">{entry.ip ?? 'none'}</Fact>
        {entry.request_id !== null && (
          <Fact name="Request ID">
            <code>{entry.request_id}</code> <CopyButton label="Request ID" value={entry.request_id} />
          </Fact>
        )}
      </Facts>
      {changes.length > 0 && (
        <Table
          label="What changed"
          columns={[
            { id: 'field', title: 'Field', cell: ({ field }) => field },
            ...(entry.before ? [{ id: 'before', title: 'Before', cell: ({ before = '–' }) => before }] : []),
            ...(entry.after
              ? [{ id: 'after', title: entry.before ? 'After' : 'Value', cell: ({ after = '–' }) => after }]
              : []),
          ]}
          rows={changes}
          rowKey={({ field }) => field}
        />
      )}
      <p className="links">
        <PageLink to="audit" choices={{ actor: `${actor.type}:${actor.id ?? ''}` }}>
          All by {actorWords(actor)}
        </PageLink>
        {target.id !== null && (
          <PageLink to="audit" choices={{ target: `${target.type}:${target.id}` }}>
            All about {targetWords(target)}
          </PageLink>
        )}
      </p>
    </div>
  );
}

/** What an entry is about, as a link if a page shows it. */
export function Target({ of: entry, scope }: { of: EntryView; scope: Scope }) {
  const words = targetWords(entry.target);
  const place = targetPlace(entry, scope.kind);
  if (place) return <PageLink {...place}>{words}</PageLink>;
  if (words === '') return '–';
  return entry.target.type === 'route' ? <code>{words}</code> : words;
}
