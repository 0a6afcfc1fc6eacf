import { Dialog } from './dialog.tsx';
import { leaving } from './leave-guard.ts';

/** The question before a page with unsaved work is left. */
export function LeaveQuestion() {
  const asked = leaving.value;
  if (asked === undefined) return null;
  const stay = () => {
    leaving.value = undefined;
  };
  return (
    <Dialog title={asked.reason === '' ? 'Leave this page?' : 'You have been signed out'} onCancel={stay}>
      {asked.reason !== '' && <p>{asked.reason}</p>}
      <p>{asked.lost}</p>
      <div className="actions">
        <button type="button" onClick={stay}>
          Stay on this page
        </button>
        <button
          type="button"
          className="danger"
          onClick={() => {
            stay();
            asked.go();
          }}
        >
          {asked.reason === '' ? 'Leave' : 'Leave and sign in'}
        </button>
      </div>
    </Dialog>
  );
}
