import type { Bounds } from '../../metering/bounds.ts';
import type { FieldToSet } from '../../metering/plan.ts';
import type { ReadJson } from '../request/json/json-reader.ts';
import type { JsonBody } from '../request/json-body.ts';
import { type Edit, edited, type Upload } from '../request/spool/upload.ts';
import { added, placed, readWithin } from './text-edits.ts';
import { toolBoundEdits } from './tool-bounds.ts';

export interface UpstreamBody {
  readonly bytes: Buffer | Upload;
  /** True where the request was changed to ask for usage, which the relay removes from the answer again. */
  readonly injectedUsage: boolean;
}

/** What the gateway asks of a provider beyond the request. */
export interface UpstreamNeeds {
  /** A stream of this endpoint must be asked for its usage. */
  readonly asksForUsage: boolean;
  /** Bounds of the provider's tools that the request leaves open. */
  readonly sets: readonly FieldToSet[];
  readonly bounds: Bounds;
}

/**
 * The body that goes upstream: the bytes that came, unless the upstream has another name for the model, a chat stream
 * would not report its usage, or a bound of the provider's tools is open. Then only those values are replaced or added in the
 * text, so that big numbers, the order of members and white space stay (specification sections 4 and 5).
 */
export function upstreamJson(
  body: JsonBody,
  read: ReadJson,
  { asksForUsage, sets, bounds }: UpstreamNeeds,
): UpstreamBody {
  const edits: Edit[] = sets.length > 0 ? toolBoundEdits(body, read, sets, bounds) : [];
  const { model, bytes } = body;
  const modelSpan = read.spanOf('model');
  if (model.upstreamModel !== model.slug && modelSpan) {
    edits.push({ ...modelSpan, text: JSON.stringify(model.upstreamModel) });
  }
  const usageEdit = body.isStream && asksForUsage ? includeUsage(body, read) : undefined;
  if (usageEdit) edits.push(usageEdit);
  return { bytes: edited(bytes, placed(edits, read, 0)), injectedUsage: usageEdit !== undefined };
}

/** The edit of the text by which the upstream is asked to report usage; undefined if it is asked already. */
function includeUsage({ value: { stream_options: options } }: JsonBody, read: ReadJson): Edit | undefined {
  const span = read.spanOf('stream_options');
  if (!span) return added(read, '"stream_options":{"include_usage":true}');
  // An invalid value is left for the upstream to refuse.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return options === null ? { ...span, text: '{"include_usage":true}' } : undefined;
  }
  if ((options as Record<string, unknown>).include_usage === true) return undefined;
  const inner = readWithin(read, span);
  const value = inner.spanOf('include_usage');
  const edit = value ? { ...value, text: 'true' } : added(inner, '"include_usage":true');
  return placed([edit], inner, span.start)[0];
}
