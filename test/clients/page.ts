import { CASES, type Result } from './cases.ts';
import { type Case, CLIENTS } from './clients.ts';

/** The results of a client, or the reason why it was not run. */
export interface Row {
  readonly name: string;
  readonly version: string;
  /** The day of the run. */
  readonly date: string;
  readonly results: Readonly<Partial<Record<Case, Result>>>;
  readonly notRun?: string;
}

/** Columns of the table after client, version and date. */
const HEADS: Readonly<Record<Case, string>> = {
  call: 'Call',
  stream: 'Stream',
  tools: 'Tools',
  models: 'Models',
  targets: 'Targets',
  encrypted: 'Encrypted',
  401: '401',
  limit: '402 limit',
  credits: '402 credits',
  hold: '402 hold',
  403: '403',
  404: '404',
  429: '429',
  502: '502',
  503: '503',
  left: 'Left',
};
/** Columns before those of the cases. */
const HEAD_CELLS = 3;
const COLUMNS = ['Client', 'Version', 'Date', ...CASES.map((name) => HEADS[name]), 'Ledger'];
const PLACE = /(<!-- run of the clients -->\n)[\s\S]*?(\n<!-- end -->)/;
const NOTE = /<sup>.*?<\/sup>/g;

/** Differences between the page's marks and those of the rows, one a line, and rows that differ from the provider. */
export function brokenPromises(page: string, rows: readonly Row[]): string[] {
  const promised = new Map(tableOf(page).map((cells) => [cells[0], cells]));
  return rows.flatMap((row) => {
    const faults = CASES.flatMap((name) => row.results[name]?.differences ?? []).map(
      (line) => `${row.name}: ledger: ${line}`,
    );
    const cells = promised.get(row.name);
    if (row.notRun !== undefined) return cells ? [`${row.name}: ${row.notRun}`] : [];
    if (!cells) return [...faults, `${row.name}: the page does not have it`];
    const marks = CASES.flatMap((name, at) => {
      const result = row.results[name];
      const mark = cells[at + HEAD_CELLS];
      if (!result || result.mark === mark) return [];
      return [
        `${row.name}: ${HEADS[name]} is ${result.mark}, and the page promises ${mark} (${result.note ?? ''})`,
      ];
    });
    return [...faults, ...marks];
  });
}

/** The page with these rows in place of the rows of the same clients. */
export function withRows(page: string, rows: readonly Row[]): string {
  const old = tableOf(page, true);
  const oldNotes = notesOf(page);
  const names = [...new Set([...old.map(([name = '']) => name), ...rows.map(({ name }) => name)])];
  names.sort((a, b) => placeOf(a) - placeOf(b));
  const notes: string[] = [];
  const noted = (mark: string, note: string | undefined) => {
    if (!note) return mark;
    const at = notes.indexOf(note);
    return `${mark}<sup>${at < 0 ? notes.push(note) : at + 1}</sup>`;
  };
  const lines = names.map((name) => {
    const row = rows.find((one) => one.name === name);
    const cells = old.find(([first]) => first === name) ?? [];
    const kept = (at: number) => {
      const cell = cells[at] ?? '';
      return noted(cell.replace(NOTE, ''), oldNotes[Number(/<sup>(\d+)/.exec(cell)?.[1]) - 1]);
    };
    return row ? cellsOf(row, noted, kept) : cells.map((_, at) => kept(at));
  });
  const table = [COLUMNS, COLUMNS.map(() => '---'), ...lines].map(lineOf);
  const list = notes.length === 0 ? [] : ['', ...notes.map((note, at) => `${at + 1}. ${note}`)];
  return page.replace(PLACE, (_, begin, end) => `${begin}\n${[...table, ...list].join('\n')}\n${end}`);
}

/** Marks stand close together, as there are many. */
const lineOf = (cells: readonly string[]) =>
  `| ${cells.slice(0, HEAD_CELLS).join(' | ')} |${cells.slice(HEAD_CELLS).join('|')}|`;

const placeOf = (name: string) => CLIENTS.findIndex((one) => one.name === name);

type Noted = (mark: string, note: string | undefined) => string;

/** The cells of a row. `kept` are the page's own, for cases that were not run. */
function cellsOf(row: Row, noted: Noted, kept: (at: number) => string): string[] {
  if (row.notRun !== undefined) {
    return [row.name, noted('not run', row.notRun), row.date, ...CASES.map(() => ''), ''];
  }
  const isExact = CASES.every((name) => !row.results[name]?.differences.length);
  const marks = CASES.map((name, at) => {
    const result = row.results[name];
    if (!result) return kept(at + HEAD_CELLS);
    return noted(result.mark, result.mark === '●' ? undefined : result.note && sentence(result.note));
  });
  // An old difference stays until all cases run.
  const before = CASES.every((name) => row.results[name]) ? '' : kept(COLUMNS.length - 1);
  return [row.name, row.version, row.date, ...marks, isExact ? before || '●' : '○'];
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

function tableOf(page: string, withNotes = false): string[][] {
  const lines = (PLACE.exec(page)?.[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => (withNotes ? cell : cell.replace(NOTE, '')).trim()),
  );
}

function notesOf(page: string): string[] {
  return [...(PLACE.exec(page)?.[0] ?? '').matchAll(/^\d+\. (.*)$/gm)].map(([, note = '']) => note);
}
