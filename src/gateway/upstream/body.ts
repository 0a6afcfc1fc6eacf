import type { CallBody } from '../request/call-body.ts';
import type { JsonBody } from '../request/json-body.ts';
import { scanMembers } from '../request/json-scan.ts';
import type { Edit, Upload } from '../request/spool/upload.ts';

const INCLUDE_USAGE: ReadonlySet<string> = new Set(['include_usage']);

export interface UpstreamBody {
  readonly bytes: Buffer | Upload;
  /** True where the request was changed to ask for usage, which the relay removes from the answer again. */
  readonly injectedUsage: boolean;
}

/**
 * The body that goes upstream: the bytes that came, unless the upstream has another name for the model or a chat stream
 * would not report its usage. Then only those values are replaced in the text, so that big numbers, the order of
 * members and white space stay (specification section 4).
 */
export function upstreamBody(body: CallBody, asksForUsage: boolean): UpstreamBody {
  // In a form, the model's name was replaced while the form was read, so that it is not in memory twice.
  return isJson(body) ? upstreamJson(body, asksForUsage) : { bytes: body.bytes, injectedUsage: false };
}

function isJson(body: CallBody): body is JsonBody {
  return body.kind === 'json';
}

function upstreamJson(body: JsonBody, asksForUsage: boolean): UpstreamBody {
  const edits: Edit[] = [];
  const { model, spans } = body;
  const modelSpan = spans.get('model');
  if (model.upstreamModel !== model.slug && modelSpan) {
    edits.push({ ...modelSpan, text: JSON.stringify(model.upstreamModel) });
  }
  const usageEdit = body.isStream && asksForUsage ? includeUsage(body) : undefined;
  if (usageEdit) edits.push(usageEdit);
  if (edits.length === 0) return { bytes: body.bytes, injectedUsage: false };
  const { bytes, elided } = body;
  if (elided && !Buffer.isBuffer(bytes)) {
    const placed = edits.map(({ start, end, text }) => ({
      start: elided.offsetOf(start),
      end: elided.offsetOf(end),
      text,
    }));
    return { bytes: bytes.edited(placed), injectedUsage: usageEdit !== undefined };
  }
  edits.sort((a, b) => b.start - a.start);
  let text = body.text;
  for (const edit of edits) text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  return { bytes: Buffer.from(text), injectedUsage: usageEdit !== undefined };
}

function includeUsage(body: JsonBody): Edit | undefined {
  const span = body.spans.get('stream_options');
  const options = body.value.stream_options;
  if (!span) {
    const at = body.openAt + 1;
    return { start: at, end: at, text: `"stream_options":{"include_usage":true}${body.isEmpty ? '' : ','}` };
  }
  // An invalid value is left for the upstream to refuse.
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return options === null ? { ...span, text: '{"include_usage":true}' } : undefined;
  }
  if ((options as Record<string, unknown>).include_usage === true) return undefined;
  const text = body.text.slice(span.start, span.end);
  const inner = scanMembers(text, INCLUDE_USAGE);
  const value = inner.spans.get('include_usage');
  if (value) return { start: span.start + value.start, end: span.start + value.end, text: 'true' };
  const at = span.start + inner.openAt + 1;
  return { start: at, end: at, text: `"include_usage":true${inner.isEmpty ? '' : ','}` };
}
