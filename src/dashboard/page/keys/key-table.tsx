import type { KeyView } from '../../../api/keys/key-view.ts';
import type { KeysPath } from '../api/rotation.ts';
import { Badge, Time } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';
import { isOwnKey, KeyStatus } from './key-label.tsx';
import { KeySpend } from './key-spend.tsx';
import { LastUsed } from './last-used.tsx';
import { PreviousValue } from './previous-value.tsx';
import { restrictionsOf } from './restrictions.ts';
import { UnknownModels, useCatalog } from './unknown-models.tsx';

/** What the operator, who has no page of one key, does with a key in the list of an account. */
export interface KeyActions {
  readonly path: KeysPath;
  /** Opens the dialog that switches a key off or on. */
  onSwitch(key: KeyView): void;
  /** Opens the dialog that gives a key a new value. */
  onRotate(key: KeyView): void;
}

export function KeyTable({
  keys,
  actions,
  onEnded,
}: {
  keys: readonly KeyView[];
  /** Absent where each key is a link to its page. */
  actions: KeyActions | undefined;
  /** Called when the previous value has ended. */
  onEnded: () => void;
}) {
  const catalog = useCatalog(keys);
  return (
    <Table
      label="Keys"
      columns={[
        'Key',
        'Status',
        'Spent',
        'Last used',
        ['Restricted by', 'wide-only'],
        ['Created', 'wide-only'],
        ...(actions ? ['Change'] : []),
      ]}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <th scope="row">
            {actions ? key.name : <a href={`#/keys/${key.id}`}>{key.name}</a>}
            <span className="sub">
              <code>{key.prefix}…</code> {isOwnKey(key) && <Badge kind="plain">signed in</Badge>}{' '}
              {key.can_manage && <Badge kind="plain">manages</Badge>}
            </span>
            {key.description && <span className="sub clip">{key.description}</span>}
            <UnknownModels of={key} catalog={catalog} />
            <PreviousValue of={key} path={actions?.path} onEnded={onEnded} />
          </th>
          <td>
            <KeyStatus of={key} />
          </td>
          <td>
            <KeySpend of={key} />
          </td>
          <td>
            <LastUsed of={key} />
          </td>
          <td className="wide-only">{restrictionsOf(key).join(', ') || '–'}</td>
          <td className="wide-only">
            <Time at={key.created_at} />
          </td>
          {actions && (
            <td>
              <div className="actions">
                <button
                  type="button"
                  className={key.is_active ? 'danger-quiet' : ''}
                  aria-label={`${key.is_active ? 'Deactivate' : 'Reactivate'} ${key.name}`}
                  onClick={() => actions.onSwitch(key)}
                >
                  {key.is_active ? 'Deactivate' : 'Reactivate'}
                </button>
                <button type="button" aria-label={`Rotate ${key.name}`} onClick={() => actions.onRotate(key)}>
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
