import type { Catalog } from '../../../domain/catalog.ts';
import { foldName, invalidField, invalidJson, otherCase } from '../../../domain/errors.ts';
import { measureAudio } from '../../../metering/audio/measure-audio.ts';
import { type ByteSource, inMemory, rangeOf } from '../../../metering/byte-source.ts';
import { refuseObeyed } from '../../../metering/members.ts';
import { type Audio, COUNTS } from '../../../metering/meter.ts';
import type { Endpoint } from '../../endpoints.ts';
import { NAMES_AN_ID } from '../../resources/referenced-ids.ts';
import { type CallBody, checkCount, modelNamed } from '../call-body.ts';
import { INSPECTED_FIELDS } from '../members.ts';
import { type Edit, exchanger, Spool, Upload } from '../spool/spool.ts';
import { type Form, readForm } from './read-form.ts';

const TRUE: ReadonlySet<string> = new Set(['true', '1', 'on', 'yes']);

/**
 * Check 9 of specification section 3 for an upload (multipart form). Fields may come in any order, so `model` may
 * follow the file. The bytes go upstream unchanged, except for the value of `model` if the upstream has another name
 * for it. `asked` gets the fields before they are checked. Throws GatewayError.
 */
export async function readFormBody(
  sent: unknown,
  contentType: string | undefined,
  catalog: Catalog,
  endpoint: Endpoint,
  asked: (value: Readonly<Record<string, unknown>>, isStream: boolean) => void,
): Promise<CallBody> {
  const boundary = boundaryOf(contentType);
  const source = sourceOf(sent);
  const form = await readForm(source, contentType ?? '', boundary);
  refuseRepeated(form);
  if (endpoint.body === 'audio') refuseAddresses(form);
  const value: Record<string, unknown> = Object.create(null);
  for (const { name, text } of form.fields) value[name] = text;
  const isStream = typeof value.stream === 'string' && TRUE.has(value.stream.toLowerCase());
  asked(value, isStream);
  const model = modelNamed(value.model, catalog, endpoint);
  for (const name of COUNTS) {
    const text = value[name];
    if (text === undefined) continue;
    value[name] = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    checkCount(name, value[name]);
  }
  const modelPart = form.fields.find(({ name }) => name === 'model')?.part;
  const naming = modelPart && { ...modelPart, text: model.upstreamModel };
  const bytes = upstreamBytes(sent, source, naming && model.upstreamModel !== value.model ? [naming] : []);
  return {
    kind: 'form',
    model,
    value,
    isStream,
    bytes,
    ...(model.targets && naming ? { named: namesOf(exchanger(bytes, bytes, [naming]), naming) } : {}),
    textBytes: form.fields.reduce((sum, { part }) => sum + part.end - part.start, 0),
    files: form.files.length,
    audio: endpoint.body === 'audio' ? await audioIn(form, source) : undefined,
    elidedStrings: undefined,
    hints: undefined,
  };
}

/**
 * Refuses an inspected field that is repeated, is a file, or is spelled so that an upstream could read it as the field.
 */
function refuseRepeated({ fields, files }: Form): void {
  const seen = new Set<string>();
  for (const { name } of [...fields, ...files]) {
    const plain = name.trim().replace(/\[\d*\]$/, '');
    const folded = foldName(plain);
    refuseObeyed(foldName(name.trim().split('[', 1)[0] as string));
    if (!INSPECTED_FIELDS.has(folded) && !NAMES_AN_ID.test(name)) continue;
    if (seen.has(folded)) {
      throw invalidJson(`The form has the field "${folded}" more than once. Send it once.`, folded);
    }
    if (plain !== folded && INSPECTED_FIELDS.has(folded)) throw otherCase('The form', name, folded);
    seen.add(folded);
  }
  const asFile = files.find(({ name }) => INSPECTED_FIELDS.has(name) || NAMES_AN_ID.test(name));
  if (asFile) throw invalidJson(`Send the field "${asFile.name}" as text, not as a file.`, asFile.name);
}

/** Fields with the address of audio, which some providers load instead of the file. Only the file is measured. */
const NAMES_AN_ADDRESS = /(?:ur[il]|source)s?$/;

function refuseAddresses({ fields }: Form): void {
  for (const { name } of fields) {
    if (!NAMES_AN_ADDRESS.test(foldName(plainName(name)))) continue;
    throw invalidField(
      name.slice(0, 100),
      'Audio URLs are not supported. Send the audio as a file in the field "file".',
    );
  }
}

/** The field's name without list brackets. */
function plainName(name: string): string {
  return name.trim().replace(/\[[^\]]*\]$/, '');
}

/** Throws unless there is exactly one file, in the field `file`: unmeasured audio must not be transcribed. */
async function audioIn(form: Form, body: ByteSource): Promise<Audio> {
  const [file, ...others] = form.files;
  if (file?.name !== 'file' || others.length > 0 || form.fields.some(({ name }) => name === 'file')) {
    throw invalidField('file', 'Send the audio as a single file in the field "file".');
  }
  const audio = rangeOf(body, file.start, file.end);
  return { bytes: audio.size, ...(await measureAudio(audio)) };
}

function sourceOf(sent: unknown): ByteSource {
  if (sent instanceof Spool) return sent;
  if (!Buffer.isBuffer(sent) || sent.length === 0)
    throw invalidJson('The request body is empty. Send a multipart form.');
  return inMemory(sent);
}

function namesOf(exchange: ReturnType<typeof exchanger>, naming: Edit): NonNullable<CallBody['named']> {
  return (upstreamModel) => exchange(new Map([[naming, upstreamModel]]));
}

function upstreamBytes(sent: unknown, source: ByteSource, edits: readonly Edit[]): Buffer | Upload {
  if (!Buffer.isBuffer(sent)) return new Upload(source, edits);
  return edits.reduce<Buffer>(
    (bytes, { start, end, text }) =>
      Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)]),
    sent,
  );
}

const PARAMETER = /;[ \t]*([A-Za-z]+)=(?:"([^"\\]*)"|([^\s;"]+))[ \t]*/gy;
/** Characters and length of a boundary (RFC 2046 §5.1.1), except the space, which some servers trim. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=?]{1,70}$/;

/**
 * Reads the boundary from a Content-Type of `multipart/form-data`. Accepts only its plain forms (RFC 2046): if a header
 * were ambiguous, gateway and upstream could cut the same bytes differently. Throws 400 `invalid_json`.
 */
function boundaryOf(contentType: string | undefined): string {
  const [type = ''] = (contentType ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    throw invalidJson('Send the body as multipart/form-data.');
  }
  const parameters = (contentType ?? '').slice(type.length);
  let boundary: string | undefined;
  let end = 0;
  for (const [whole, name, quoted, plain] of parameters.matchAll(PARAMETER)) {
    end += whole.length;
    if (name?.toLowerCase() === 'charset') continue;
    if (name?.toLowerCase() !== 'boundary' || boundary !== undefined) throw unreadable();
    boundary = quoted ?? plain;
  }
  if (end !== parameters.length || boundary === undefined || !BOUNDARY.test(boundary)) throw unreadable();
  return boundary;
}

function unreadable() {
  return invalidJson('The Content-Type must be multipart/form-data with only a boundary parameter.');
}
