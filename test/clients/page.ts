import type { Mark, Result } from './cases.ts';
import { CASES } from './cases.ts';
import type { Case } from './clients.ts';

/** A client that was run, or the reason why it was not. */
export interface Row {
  readonly name: string;
  readonly version: string;
  /** Day of the run. */
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
const COLUMNS = ['Client', 'Version', 'Date', ...CASES.map((name) => HEADS[name]), 'Ledger'];
const PLACE = /(<!-- run of the clients -->\n)[\s\S]*?(\n<!-- end -->)/;
const NOTE = /<sup>.*?<\/sup>/g;

/** Differences between the marks of the page and those of the rows, a line each; rows that differ from the provider, too. */
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
      const mark = cells[at + 3];
      if (!result || result.mark === mark) return [];
      return [
        `${row.name}: ${HEADS[name]} is ${result.mark}, and the page promises ${mark} (${result.note ?? ''})`,
      ];
    });
    return [...faults, ...marks];
  });
}

/** The page with these rows in its table, in place of those of the same clients. */
export function withRows(page: string, rows: readonly Row[]): string {
  const old = tableOf(page, true);
  const oldNotes = notesOf(page);
  const names = [...new Set([...old.map(([name = '']) => name), ...rows.map(({ name }) => name)])];
  const notes: string[] = [];
  const noted = (mark: string, note: string | undefined) => {
    if (!note) return mark;
    const at = notes.indexOf(note);
    return `${mark}<sup>${at < 0 ? notes.push(note) : at + 1}</sup>`;
  };
  const lines = names.map((name) => {
    const row = rows.find((one) => one.name === name);
    if (row) return cellsOf(row, noted);
    const cells = old.find(([first]) => first === name) ?? [];
    return cells.map((cell) =>
      noted(cell.replace(NOTE, ''), oldNotes[Number(/<sup>(\d+)/.exec(cell)?.[1]) - 1]),
    );
  });
  const table = [COLUMNS, COLUMNS.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  const list = notes.length === 0 ? [] : ['', ...notes.map((note, at) => `${at + 1}. ${note}`)];
  return page.replace(PLACE, (_, begin, end) => `${begin}\n${[...table, ...list].join('\n')}\n${end}`);
}

function cellsOf(row: Row, noted: (mark: string, note: string | undefined) => string): string[] {
  if (row.notRun !== undefined) {
    return [row.name, noted('not run', row.notRun), row.date, ...CASES.map(() => ''), ''];
  }
  const exact: Mark = CASES.every((name) => !row.results[name]?.differences.length) ? '●' : '○';
  const marks = CASES.map((name) => {
    const { mark, note } = row.results[name] as Result;
    return noted(mark, mark === '●' ? undefined : note && sentence(note));
  });
  return [row.name, row.version, row.date, ...marks, exact];
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

function tableOf(page: string, withNotes = false): string[][] {
  const lines = (PLACE.exec(page)?.[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => (withNotes ? cell : cell.replace(NOTE, '')).trim()),
  );
}

function notesOf(page: string): string[] {
  return [...(PLACE.exec(page)?.[0] ?? '').matchAll(/^\d+\. (.*)$/gm)].map(([, note = '']) => note);
}
