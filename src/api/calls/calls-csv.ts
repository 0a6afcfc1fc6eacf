import { USAGE_NAMES } from '../../domain/units.ts';
import { type Cell, csvLine } from '../http/csv.ts';
import type { CallView, OperatorCallView } from './call-view.ts';

type AnyCall = CallView | OperatorCallView;

const FIRST = [
  'id',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'streamed',
  'status',
  'outcome',
] as const;
const ERROR = [
  'code',
  'message',
  'param',
  'charge',
  'estimated',
  'duration_ms',
  'first_byte_ms',
  'upstream',
] as const;
const LAST = ['user_agent', 'repeated'] as const;
const JSON_CELLS = ['attempts', 'detail'] as const;
const USED = Object.values(USAGE_NAMES);

/** First line of the export; `isOperators`: with the account. */
export function callsCsvHeader(isOperators: boolean): string {
  return csvLine([
    ...FIRST,
    ...ERROR,
    ...LAST,
    ...JSON_CELLS,
    ...USED,
    ...(isOperators ? ['account_id'] : []),
  ]);
}

/** The line of a call; absent values are empty cells, `attempts` and `detail` are JSON. */
export function callsCsvLine(call: AnyCall): string {
  const cells: Cell[] = [...FIRST, ...ERROR, ...LAST].map((name) => call[name]);
  for (const name of JSON_CELLS) cells.push(call[name] && JSON.stringify(call[name]));
  for (const name of USED) cells.push(call.usage[name]);
  if ('account_id' in call) cells.push(call.account_id);
  return csvLine(cells);
}
