import { type Base, exportLedger, type LedgerFilter } from '../api/account.ts';
import { wordsOf } from '../api/failure.ts';
import { useAction } from '../api/use-action.ts';
import { announce } from '../ui/announcements.tsx';

/** Buttons that save the whole ledger, as it is filtered, to a file. */
export function Export({ of: base, filter }: { of: Base; filter: LedgerFilter }) {
  const action = useAction(async (format: 'csv' | 'jsonl') => {
    save(await exportLedger(base, filter, format), `ledger.${format}`);
    announce('The ledger is exported.');
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
        <p class="field-error" role="alert">
          {wordsOf(action.error)}
        </p>
      )}
    </>
  );
}

/**
 * Saves fetched data as a file. A plain link would not do, because the key goes in a header, which links do not send.
 */
function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // After 10 s, when the browser has surely started to save.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
