import { wordsOf } from '../api/failure.ts';
import { useAction } from '../api/use-action.ts';
import { announce } from './announcements.tsx';
import { saveFile } from './save-file.ts';

const FORMATS = { csv: 'Export CSV', jsonl: 'Export JSON lines' } as const;
type Format = keyof typeof FORMATS;

/** Buttons that save all of a list, as it is filtered, to a file, one a format. `file`: its name without its ending. */
export function Export({
  file,
  formats = ['csv'],
  read,
}: {
  file: string;
  formats?: readonly Format[];
  read: (format: Format) => Promise<Blob>;
}) {
  const action = useAction(async (format: Format) => {
    saveFile(await read(format), `${file}.${format}`);
    announce('Exported.');
  });
  return (
    <>
      {formats.map((format) => (
        <button key={format} type="button" disabled={action.isBusy} onClick={() => action.run(format)}>
          {FORMATS[format]}
        </button>
      ))}
      {action.error !== undefined && (
        <p className="field-error" role="alert">
          {wordsOf(action.error)}
        </p>
      )}
    </>
  );
}
