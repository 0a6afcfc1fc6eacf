import type { KeyView } from '../../../api/views/key-view.ts';
import { Badge, Time } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';
import { isOwnKey, KeyStatus } from './key-label.tsx';
import { KeySpend } from './key-spend.tsx';
import { restrictionsOf } from './restrictions.ts';
import { UnknownModels, useCatalog } from './unknown-models.tsx';

export function KeyTable({
  keys,
  onSwitch,
}: {
  keys: readonly KeyView[];
  /** Opens the dialog that switches a key off or on; absent where each key is a link to its page. */
  onSwitch?: (key: KeyView) => void;
}) {
  const catalog = useCatalog(keys);
  return (
    <Table
      label="Keys"
      columns={[
        'Key',
        'Status',
        'Spent',
        ['Restricted by', 'wide-only'],
        ['Created', 'wide-only'],
        ...(onSwitch ? ['Change'] : []),
      ]}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <th scope="row">
            {onSwitch ? key.name : <a href={`#/keys/${key.id}`}>{key.name}</a>}
            <span class="sub">
              <code>{key.prefix}…</code> {isOwnKey(key) && <Badge kind="plain">signed in</Badge>}{' '}
              {key.can_manage && <Badge kind="plain">manages</Badge>}
            </span>
            {key.description && <span class="sub clip">{key.description}</span>}
            <UnknownModels of={key} catalog={catalog} />
          </th>
          <td>
            <KeyStatus of={key} />
          </td>
          <td>
            <KeySpend of={key} />
          </td>
          <td class="wide-only">{restrictionsOf(key).join(', ') || '–'}</td>
          <td class="wide-only">
            <Time at={key.created_at} />
          </td>
          {onSwitch && (
            <td>
              <button
                type="button"
                class={key.is_active ? 'danger-quiet' : ''}
                aria-label={`${key.is_active ? 'Deactivate' : 'Reactivate'} ${key.name}`}
                onClick={() => onSwitch(key)}
              >
                {key.is_active ? 'Deactivate' : 'Reactivate'}
              </button>
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}
