import type { KeyView } from '../../../api/keys/key-view.ts';
import { Note } from '../ui/note.tsx';
import { Table } from '../ui/table.tsx';
import { changesBetween } from './key-differences.ts';

/** Part of a dialog that shows how a key was changed after the page was loaded. `done` is what was not done: "rotated". */
export function ChangedMeanwhile({ before, now, done }: { before: KeyView; now: KeyView; done: string }) {
  return (
    <>
      <Note kind="danger">
        <p>
          It was changed in another session or tab after you loaded this page. You have not {done} it yet.
        </p>
      </Note>
      <Table label="What differs" columns={['Setting', 'Before', 'Now']}>
        {changesBetween(before, now).map((change) => (
          <tr key={change.label}>
            <th scope="row">{change.label}</th>
            <td>{change.before}</td>
            <td>{change.now}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
