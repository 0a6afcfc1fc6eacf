import { useRef } from 'react';
import { useAction } from '../api/use-action.ts';
import { Dialog } from './dialog.tsx';
import type { Difference } from './difference.ts';
import { focusFirstFault } from './field.tsx';
import { FailureNote } from './note.tsx';
import { Table } from './table.tsx';

/** Dialog for something that was saved elsewhere while its form was open. It asks which settings to keep. */
export function Conflict(props: {
  /** What was changed: "key" or "account". */
  of: string;
  differences: readonly Difference[];
  onKeepTheirs: () => void;
  saveMine: () => Promise<unknown>;
  onClose: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const save = useAction(props.saveMine);
  return (
    <Dialog title={`This ${props.of} was changed`} onCancel={props.onClose}>
      <p>
        It was saved in another session or tab after you loaded this page. Your changes are not saved yet.
      </p>
      {props.differences.length > 0 && (
        <Table label="What differs" columns={['Setting', 'Yours', 'Saved']}>
          {props.differences.map(({ label, mine, theirs }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{mine ?? 'not changed by you'}</td>
              <td>{theirs}</td>
            </tr>
          ))}
        </Table>
      )}
      <p>Fields that you did not change keep their saved values.</p>
      <div ref={frame}>
        <FailureNote error={save.error} />
      </div>
      <div className="actions">
        <button type="button" onClick={props.onClose}>
          Back to the form
        </button>
        <button type="button" onClick={props.onKeepTheirs}>
          Discard mine
        </button>
        <button
          type="button"
          className="danger"
          aria-disabled={save.isBusy}
          onClick={async () => {
            if (!(await save.run())) focusFirstFault(frame.current);
          }}
        >
          Save mine
        </button>
      </div>
    </Dialog>
  );
}
