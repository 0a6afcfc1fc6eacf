import type { Bounds } from '../../metering/bounds.ts';
import { closingQuoteAmongEscapes, skipSpace, valueEnd } from '../../metering/json/lexer.ts';
import { type FieldToSet, valueToSet } from '../../metering/plan.ts';
import type { ReadJson } from '../request/json/json-reader.ts';
import type { JsonBody } from '../request/json-body.ts';
import type { Edit } from '../request/spool/upload.ts';
import { added, placed, readWithin } from './text-edits.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Edits of the body's text that send the bounds which the request leaves open. What says `null` is replaced; a member that is
 * missing is put before the others of its object.
 */
export function toolBoundEdits(
  { value }: JsonBody,
  read: ReadJson,
  sets: readonly FieldToSet[],
  bounds: Bounds,
): Edit[] {
  const own = sets.filter(({ list }) => list === undefined);
  const edits = objectEdits(read, own, bounds);
  for (const [list, within] of Map.groupBy(sets, (set) => set.list)) {
    const span = list === undefined ? undefined : read.spanOf(list);
    if (list === undefined || !span) continue;
    const byTool = Map.groupBy(within, ({ of }) => of as unknown);
    for (const { object, start, end } of placesOf(read.text, span.start, value[list], byTool)) {
      const tool = readWithin(read, { start, end });
      edits.push(...placed(objectEdits(tool, byTool.get(object) ?? [], bounds), tool, start));
    }
  }
  return edits;
}

/** Edits that give an object these members. */
function objectEdits(read: ReadJson, sets: readonly FieldToSet[], bounds: Bounds): Edit[] {
  const edits: Edit[] = [];
  const members: string[] = [];
  for (const set of sets) {
    const value = String(valueToSet(set, bounds));
    const span = read.spanOf(set.name);
    if (span) edits.push({ ...span, text: value });
    else members.push(`${JSON.stringify(set.name)}:${value}`);
  }
  if (members.length > 0) edits.push(added(read, members.join(',')));
  return edits;
}

interface Place {
  readonly object: unknown;
  readonly start: number;
  readonly end: number;
}

/**
 * The places of objects in the text of a value that JSON.parse made them from. The text and the value are walked side by side,
 * once, without recursion, because a client decides how deep its JSON is.
 */
function placesOf(
  text: string,
  from: number,
  root: unknown,
  wanted: { has(value: unknown): boolean },
): Place[] {
  const places: Place[] = [];
  const open: { readonly value: unknown; index: number }[] = [];
  let value = root;
  for (let at = skipSpace(text, from); ; ) {
    const code = text.charCodeAt(at);
    const isList = code === OPEN_ARRAY && Array.isArray(value);
    const isMembers = code === OPEN_OBJECT && typeof value === 'object' && value !== null;
    if (isMembers && wanted.has(value)) {
      const end = valueEnd(text, at);
      places.push({ object: value, start: at, end });
      at = end;
    } else if (isList || isMembers) {
      open.push({ value, index: 0 });
      at++;
    } else at = valueEnd(text, at);
    at = skipSpace(text, at);
    while (text.charCodeAt(at) === CLOSE_ARRAY || text.charCodeAt(at) === CLOSE_OBJECT) {
      open.pop();
      // What comes after the value belongs to others.
      if (open.length === 0) return places;
      at = skipSpace(text, at + 1);
    }
    const around = open.at(-1);
    if (!around) return places;
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
    if (Array.isArray(around.value)) value = around.value[around.index++];
    else {
      if (text.charCodeAt(at) !== QUOTE) return places;
      const end = closingQuoteAmongEscapes(text, at + 1) + 1;
      value = (around.value as Record<string, unknown>)[JSON.parse(text.slice(at, end)) as string];
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
  }
}
