import type { Bounds } from '../../metering/bounds.ts';
import { closingQuoteAmongEscapes, skipSpace, valueEnd } from '../../metering/json/lexer.ts';
import { DROPPED_FIELDS } from '../../metering/members.ts';
import type { ParsedRequest } from '../../metering/meter.ts';
import { type FieldToSet, valueToSet } from '../../metering/plan.ts';
import { type ReadJson, readJson, type Span } from '../request/json/json-reader.ts';
import { type Edit, edited, exchanger, type Upload } from '../request/spool/spool.ts';

/** The body for one target. */
export interface SentBody {
  readonly bytes: Buffer | Upload;
  /** True if the request was changed to ask for usage, which the relay removes from the answer. */
  readonly injectedUsage: boolean;
  /** True if it has `stream_options` only for that. */
  readonly addedOptions: boolean;
}

export interface UpstreamBody extends SentBody {
  /** Content type of a form. */
  readonly contentType?: string | undefined;
  /**
   * The body with this model name, which asks for usage or not; only if the model has several targets, or the request was
   * changed to ask.
   */
  readonly formOf?: ((upstreamModel: string, asks: boolean) => SentBody) | undefined;
}

/** What the gateway adds to the request. */
interface UpstreamNeeds {
  /** The stream must be asked for its usage. */
  readonly asksForUsage: boolean;
  /** Bounds of the provider's tools that the request leaves open. */
  readonly sets: readonly FieldToSet[];
  readonly bounds: Bounds;
}

/** An edit that another target may need otherwise. */
interface Slot extends Edit {
  /** The client's text in its place. */
  readonly was: string;
}

/**
 * Builds the body that goes upstream: the original bytes, unless the upstream has another model name, a chat stream
 * would not report its usage, a bound of the provider's tools is open, or the client names the answer. Then only those
 * values are replaced, added or left out in the text, which preserves big numbers, member order and white space (specification sections 4 and 5).
 */
export function upstreamJson(
  body: ParsedRequest,
  bytes: SentBody['bytes'],
  read: ReadJson,
  { asksForUsage, sets, bounds }: UpstreamNeeds,
): UpstreamBody {
  const naming = modelName(body, read);
  const asking = asksForUsage ? includeUsage(body, read) : undefined;
  const edits: Edit[] = sets.length > 0 ? placed(toolBoundEdits(body, read, sets, bounds), read, 0) : [];
  if (asking) edits.push(asking);
  if (naming) edits.push(...(read.spanOf('model') ? [naming] : asMember(naming, read)));
  // Behind what is added where a dropped member begins.
  edits.push(...placed(droppedEdits(read), read, 0));
  const isRenamed = naming !== undefined && naming.text !== naming.was;
  const sent = edited(bytes, isRenamed ? edits : edits.filter((edit) => edit !== naming));
  const injectedUsage = asking !== undefined;
  const form = {
    bytes: sent,
    injectedUsage,
    addedOptions: injectedUsage && (body.value.stream_options ?? null) === null,
  };
  if (!asking && !body.model.targets) return form;
  return { ...form, formOf: formsOf(form, exchanger(bytes, sent, edits), naming, asking) };
}

/** Not within `upstreamJson`, so that it keeps nothing else of the request in memory. */
function formsOf(
  form: SentBody,
  exchange: ReturnType<typeof exchanger>,
  naming: Slot | undefined,
  asking: Slot | undefined,
): UpstreamBody['formOf'] {
  return (upstreamModel, asks) => {
    const texts = new Map<Edit, string>();
    const name = JSON.stringify(upstreamModel);
    if (naming && naming.text !== name) texts.set(naming, name);
    if (asking && !asks) texts.set(asking, asking.was);
    if (texts.size === 0) return form;
    const { injectedUsage, addedOptions } = form;
    return {
      bytes: exchange(texts),
      injectedUsage: injectedUsage && asks,
      addedOptions: addedOptions && asks,
    };
  };
}

/**
 * The model's name in the body; undefined if it is sent as it is, to all targets. A body without one, whose address names
 * the model, has its place before the other members.
 */
function modelName({ model, value }: ParsedRequest, read: ReadJson): Slot | undefined {
  const isSame = model.upstreamModel === value.model;
  if (isSame && !model.targets) return undefined;
  const first = read.openAt + 1;
  const span = read.spanOf('model') ?? { start: first, end: first };
  const was = textOf(read, span);
  return slotAt({ ...span, text: isSame ? was : JSON.stringify(model.upstreamModel), was }, read, 0);
}

/** Edits that add the member around its name, which stays an edit of its own for other targets. */
function asMember(naming: Slot, { isEmpty }: ReadJson): Edit[] {
  const { start, end } = naming;
  return [{ start, end, text: '"model":' }, naming, { start, end, text: isEmpty ? '' : ',' }];
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

/** The edit that asks the upstream to report usage; undefined if the request already does. */
function includeUsage(
  { value: { stream_options: options } }: ParsedRequest,
  read: ReadJson,
): Slot | undefined {
  const span = read.spanOf('stream_options');
  if (!span) return slotAt({ ...added(read, '"stream_options":{"include_usage":true}'), was: '' }, read, 0);
  // The upstream refuses an invalid value.
  if (typeof options !== 'object' || Array.isArray(options)) return undefined;
  if (options === null) return slotAt({ ...span, text: '{"include_usage":true}', was: 'null' }, read, 0);
  if ((options as Record<string, unknown>).include_usage === true) return undefined;
  const inner = readWithin(read, span);
  const value = inner.spanOf('include_usage');
  const slot = value
    ? { ...value, text: 'true', was: textOf(inner, value) }
    : { ...added(inner, '"include_usage":true'), was: '' };
  return slotAt(slotAt(slot, inner, span.start), read, 0);
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
  { value }: ParsedRequest,
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

/** Converts edits of the text of `read` to edits of what it was read from, where it begins at `from`. */
function placed(edits: readonly Edit[], read: ReadJson, from: number): Edit[] {
  return edits.map(({ start, end, text }) => ({
    start: from + read.offsetOf(start),
    end: from + read.offsetOf(end),
    text,
  }));
}

function slotAt({ start, end, ...texts }: Slot, read: ReadJson, from: number): Slot {
  return { start: from + read.offsetOf(start), end: from + read.offsetOf(end), ...texts };
}

/** A part of the text, which has one character per byte. */
function textOf({ text }: ReadJson, { start, end }: Span): string {
  return Buffer.from(text.slice(start, end), 'latin1').toString();
}

/** The edit that inserts members before the others of the outermost object. */
function added({ openAt, isEmpty }: ReadJson, members: string): Edit {
  const at = openAt + 1;
  return { start: at, end: at, text: `${members}${isEmpty ? '' : ','}` };
}
