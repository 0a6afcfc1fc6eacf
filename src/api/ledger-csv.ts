import { csvLine } from './csv.ts';
import { type EntryView, USAGE_NAMES, type UsageName } from './views/entry-view.ts';

/** Usage that exports have had columns of from the first; all other usage has its columns after `note`. */
const FIRST_USAGE = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
  'requests',
] as const satisfies readonly UsageName[];
const LATER_USAGE = Object.values(USAGE_NAMES).filter((name) => !FIRST_USAGE.some((first) => first === name));
const COLUMNS = [
  'id',
  'type',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'status',
  'outcome',
  'estimated',
  'credits',
  'balance_after',
] as const satisfies readonly (keyof EntryView)[];

/** `price` is JSON: credits by unit. */
const LATER_COLUMNS = ['price', 'multiplier', 'upstream', 'duration_ms', 'streamed'] as const;

/** First line of the export. New columns must be added at the end, so that the others keep their places. */
export function csvHeader(): string {
  return csvLine([...COLUMNS, ...FIRST_USAGE, 'note', ...LATER_COLUMNS, ...LATER_USAGE]);
}

/** The line of an entry; absent values are empty cells. */
export function csvEntry(entry: EntryView): string {
  return csvLine([
    ...COLUMNS.map((column) => entry[column]),
    ...FIRST_USAGE.map((column) => entry.usage[column]),
    entry.note,
    ...LATER_COLUMNS.map((column) =>
      column === 'price' ? entry.price && JSON.stringify(entry.price) : entry[column],
    ),
    ...LATER_USAGE.map((column) => entry.usage[column]),
  ]);
}
