import { type Base, exportLedger, type LedgerFilter } from '../api/account.ts';
import { wordsOf } from '../api/failure.ts';
import { useAction } from '../api/use-action.ts';
import { announce } from '../ui/announcements.tsx';
import { saveFile } from '../ui/save-file.ts';

/** Buttons that save the whole ledger, as it is filtered, to a file. */
export function Export({ of: base, filter }: { of: Base; filter: LedgerFilter }) {
  const action = useAction(async (format: 'csv' | 'jsonl') => {
    saveFile(await exportLedger(base, filter, format), `ledger.${format}`);
    announce('Ledger exported.');
  });
  return (
    <>
      <button type="button" disabled={action.isBusy} onClick={() => action.run('csv')}>
        Export CSV
      </button>
      <button type="button" disabled={action.isBusy} onClick={() => action.run('jsonl')}>
        Export JSON lines
      </button>
      {action.error !== undefined && (
        <p className="field-error" role="alert">
          {wordsOf(action.error)}
        </p>
      )}
    </>
  );
}
