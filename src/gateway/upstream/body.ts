import type { Model } from '../../domain/catalog.ts';
import type { Bounds } from '../../metering/bounds.ts';
import { closingQuoteAmongEscapes, skipSpace, valueEnd } from '../../metering/json/lexer.ts';
import { DROPPED_FIELDS } from '../../metering/members.ts';
import { type FieldToSet, valueToSet } from '../../metering/plan.ts';
import type { JsonBody } from '../request/call-body.ts';
import { type ReadJson, readJson, type Span } from '../request/json/json-reader.ts';
import { type Edit, edited, renamer, type Upload } from '../request/spool/spool.ts';

export interface UpstreamBody {
  readonly bytes: Buffer | Upload;
  /** True if the request was changed to ask for usage, which the relay removes from the answer. */
  readonly injectedUsage: boolean;
  /** The body with another model name; only if the model has several targets. */
  readonly named?: ((upstreamModel: string) => Buffer | Upload) | undefined;
}

/** What the gateway adds to the request. */
interface UpstreamNeeds {
  /** Streams of this endpoint must be asked for their usage. */
  readonly asksForUsage: boolean;
  /** Bounds of the provider's tools that the request leaves open. */
  readonly sets: readonly FieldToSet[];
  readonly bounds: Bounds;
}

/**
 * Builds the body that goes upstream: the original bytes, unless the upstream has another model name, a chat stream
 * would not report its usage, a bound of the provider's tools is open, or the client names the answer. Then only those
 * values are replaced, added or left out in the text, which preserves big numbers, member order and white space (specification sections 4 and 5).
 */
export function upstreamJson(
  body: JsonBody,
  read: ReadJson,
  { asksForUsage, sets, bounds }: UpstreamNeeds,
): UpstreamBody {
  const edits: Edit[] = sets.length > 0 ? toolBoundEdits(body, read, sets, bounds) : [];
  const { model, bytes } = body;
  const modelSpan = read.spanOf('model');
  if (model.upstreamModel !== body.value.model && modelSpan) {
    edits.push({ ...modelSpan, text: JSON.stringify(model.upstreamModel) });
  }
  const asks = body.isStream && asksForUsage && !reportsUnasked(model);
  const usageEdit = asks ? includeUsage(body, read) : undefined;
  if (usageEdit) edits.push(usageEdit);
  edits.push(...droppedEdits(read));
  const all = placed(edits, read, 0);
  const sent = edited(bytes, all);
  const injectedUsage = usageEdit !== undefined;
  if (!model.targets || !modelSpan) return { bytes: sent, injectedUsage };
  const [place] = placed([{ ...modelSpan, text: '' }], read, 0) as [Edit];
  const rename = renamer(bytes, sent, all, place);
  return { bytes: sent, injectedUsage, named: (name) => rename(JSON.stringify(name)) };
}

/** Edits that leave out DROPPED_FIELDS, each with one comma: `model` stays, so there is one. */
function droppedEdits(read: ReadJson): Edit[] {
  const { text } = read;
  const edits: Edit[] = [];
  for (const name of DROPPED_FIELDS) {
    const span = read.spanOf(name);
    if (span) edits.push({ start: text.lastIndexOf(`"${name}"`, span.start - 1), end: span.end, text: '' });
  }
  if (edits.length === 0) return edits;
  let firstEnd = read.openAt + 1;
  return edits
    .sort((a, b) => a.start - b.start)
    .map((edit) => {
      // The first members are left out with the comma behind them, others with the one before.
      if (skipSpace(text, firstEnd) !== edit.start)
        return { ...edit, start: text.lastIndexOf(',', edit.start) };
      firstEnd = skipSpace(text, edit.end) + 1;
      return { ...edit, end: firstEnd };
    });
}

/** Whether no upstream of the model has to be asked for usage. */
function reportsUnasked({ upstream, targets }: Model): boolean {
  if (!targets) return upstream.reportsUnasked === true;
  return targets.every(({ model }) => model.upstream.reportsUnasked === true);
}

/** The edit that asks the upstream to report usage; undefined if the request already does. */
function includeUsage({ value: { stream_options: options } }: JsonBody, read: ReadJson): Edit | undefined {
  const span = read.spanOf('stream_options');
  if (!span) return added(read, '"stream_options":{"include_usage":true}');
  // The upstream refuses an invalid value.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return options === null ? { ...span, text: '{"include_usage":true}' } : undefined;
  }
  if ((options as Record<string, unknown>).include_usage === true) return undefined;
  const inner = readWithin(read, span);
  const value = inner.spanOf('include_usage');
  const edit = value ? { ...value, text: 'true' } : added(inner, '"include_usage":true');
  return placed([edit], inner, span.start)[0];
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Edits that send the bounds that the request leaves open. Replaces `null`; inserts a missing member before the others
 * of its object.
 */
function toolBoundEdits(
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

/** Edits that set these members of an object. */
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

interface ToolSpan {
  readonly object: unknown;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the positions of objects in the text that JSON.parse read them from. Walks text and value side by side, without
 * recursion, because a client decides how deep its JSON is.
 */
function placesOf(
  text: string,
  from: number,
  root: unknown,
  wanted: { has(value: unknown): boolean },
): ToolSpan[] {
  const places: ToolSpan[] = [];
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
      // The text after the value belongs to others.
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

const EVERY_NAME = { take: () => true };

/** An object in the text of a body, with the positions of its members. */
function readWithin({ text }: ReadJson, { start, end }: Span): ReadJson {
  return readJson(Buffer.from(text.slice(start, end), 'latin1'), EVERY_NAME);
}

/** Converts edits of the text of `read` to edits of the bytes it was read from, which begin at `from`. */
function placed(edits: readonly Edit[], read: ReadJson, from: number): Edit[] {
  return edits.map(({ start, end, text }) => ({
    start: from + read.offsetOf(start),
    end: from + read.offsetOf(end),
    text,
  }));
}

/** The edit that inserts members before the others of the outermost object. */
function added({ openAt, isEmpty }: ReadJson, members: string): Edit {
  const at = openAt + 1;
  return { start: at, end: at, text: `${members}${isEmpty ? '' : ','}` };
}
