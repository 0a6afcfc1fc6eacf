import type { KeyView } from '../../../api/keys/key-view.ts';
import type { Refusals } from '../api/key-usage.ts';
import type { KeysPath } from '../api/rotation.ts';
import { dateOf } from '../format/time.ts';
import { Ago, Badge } from '../ui/elements.tsx';
import type { Sorting } from '../ui/sorting.ts';
import { Table } from '../ui/table.tsx';
import { isSelectable } from './deactivate-many.tsx';
import { isOwnKey, KeyStatus } from './key-label.tsx';
import { KeySpend } from './key-spend.tsx';
import { LastUsed } from './last-used.tsx';
import { PreviousValue } from './previous-value.tsx';
import { briefRestrictions, restrictionsOf } from './restrictions.ts';
import { UnknownModels, useCatalog } from './unknown-models.tsx';

/** What the operator, who has no page of one key, does with a key in the list of an account. */
export interface KeyActions {
  readonly path: KeysPath;
  /** Shows all settings of a key. */
  onOpen(key: KeyView): void;
  /** Opens the dialog that switches a key off or on. */
  onSwitch(key: KeyView): void;
  /** Opens the dialog that gives a key a new value. */
  onRotate(key: KeyView): void;
}

/** Ids of the keys that are ticked. */
export interface KeySelection {
  readonly marked: ReadonlySet<number>;
  onMarked(ids: ReadonlySet<number>): void;
}

/** Table of keys, a line each. */
export function KeyTable({
  keys,
  refusals,
  sorting,
  actions,
  selection,
  onEnded,
}: {
  keys: readonly KeyView[];
  /** Undefined while they are not known. */
  refusals: Refusals | undefined;
  sorting: Sorting;
  /** Absent where each key is a link to its page. */
  actions: KeyActions | undefined;
  /** Absent where no key can be selected. */
  selection: KeySelection | undefined;
  /** Called when the previous value has ended. */
  onEnded: () => void;
}) {
  const catalog = useCatalog(keys);
  return (
    <Table
      label="Keys"
      sorting={sorting}
      columns={[
        'Name',
        'Key',
        'Status',
        'Spend / limit',
        'Last used',
        // The operator reads them in the key's settings: the buttons need their room.
        ...(actions
          ? ['Change']
          : [['Restrictions', 'with-room'] as const, ['Created', 'widest-only'] as const]),
      ]}
    >
      {keys.map((key) => (
        <tr key={key.id} className="compact">
          <th scope="row">
            <div className="key-name">
              {selection && <KeyTick of={key} selection={selection} />}
              {actions ? (
                <button
                  type="button"
                  className="link key-title"
                  title={key.description || undefined}
                  onClick={() => actions.onOpen(key)}
                >
                  {key.name}
                </button>
              ) : (
                <a className="key-title" href={`#/keys/${key.id}`} title={key.description || undefined}>
                  {key.name}
                </a>
              )}
              {isOwnKey(key) && <Badge kind="plain">signed in</Badge>}
              {key.can_manage && <Badge kind="plain">manages</Badge>}
              <UnknownModels of={key} catalog={catalog} />
              <PreviousValue of={key} path={actions?.path} onEnded={onEnded} isBrief />
            </div>
          </th>
          <td className="nowrap compact-hidden">
            <code>{key.prefix}…</code>
          </td>
          <td className="compact-figure">
            <KeyStatus of={key} />
          </td>
          <td>
            <KeySpend of={key} />
          </td>
          <td className="nowrap at-right">
            <LastUsed of={key} refused={refusals?.get(key.id) ?? 0} />
          </td>
          {actions === undefined ? (
            <>
              <td className="with-room compact-hidden">
                <Restrictions of={key} />
              </td>
              <td className="widest-only nowrap compact-hidden">
                <Ago at={key.created_at} words={dateOf(key.created_at)} />
              </td>
            </>
          ) : (
            <td className="compact-whole">
              <div className="row-actions">
                <button
                  type="button"
                  className="link"
                  aria-label={`${key.is_active ? 'Deactivate' : 'Reactivate'} ${key.name}`}
                  onClick={() => actions.onSwitch(key)}
                >
                  {key.is_active ? 'Deactivate' : 'Reactivate'}
                </button>
                <button
                  type="button"
                  className="link"
                  aria-label={`Rotate ${key.name}`}
                  onClick={() => actions.onRotate(key)}
                >
                  Rotate
                </button>
              </div>
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}

/** Tick of a key; one that can't be selected has the room of it. */
function KeyTick({ of: key, selection: { marked, onMarked } }: { of: KeyView; selection: KeySelection }) {
  if (!isSelectable(key)) return <span className="key-tick" />;
  return (
    <input
      type="checkbox"
      className="key-tick"
      aria-label={`Select ${key.name}`}
      checked={marked.has(key.id)}
      onChange={({ currentTarget }) => {
        const ids = new Set(marked);
        if (currentTarget.checked) ids.add(key.id);
        else ids.delete(key.id);
        onMarked(ids);
      }}
    />
  );
}

/** The restrictions in brief; screen readers and the tooltip have all of them. */
function Restrictions({ of: key }: { of: KeyView }) {
  const words = restrictionsOf(key).join(', ');
  return (
    <span className="key-restrictions" title={words || undefined}>
      <span aria-hidden="true">{briefRestrictions(key) || '–'}</span>
      <span className="unseen">{words || 'none'}</span>
    </span>
  );
}
