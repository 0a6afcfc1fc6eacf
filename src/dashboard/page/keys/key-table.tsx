import type { KeyView } from '../../../domain/key-view.ts';
import { Badge } from '../ui/badge.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { KeySpend } from './key-spend.tsx';
import { KeyStatus } from './key-status.tsx';
import { isOwnKey } from './own-key.ts';
import { restrictionsOf } from './restrictions.ts';
import { UnknownModels } from './unknown-models.tsx';
import { useCatalog } from './use-catalog.ts';

export function KeyTable({ keys }: { keys: readonly KeyView[] }) {
  const catalog = useCatalog(keys);
  return (
    <Table
      label="Keys"
      columns={['Key', 'Status', 'Spent', ['Restricted by', 'wide-only'], ['Created', 'wide-only']]}
    >
      {keys.map((key) => (
        <tr key={key.id}>
          <th scope="row">
            <a href={`#/keys/${key.id}`}>{key.name}</a>
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
        </tr>
      ))}
    </Table>
  );
}
