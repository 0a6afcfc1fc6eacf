import { randomUUID } from 'node:crypto';
import type { Catalog } from '../../../domain/catalog.ts';
import { foldName, invalidField, invalidJson, otherCase } from '../../../domain/errors.ts';
import { measureAudio } from '../../../metering/audio/measure-audio.ts';
import { type ByteSource, inMemory, rangeOf } from '../../../metering/byte-source.ts';
import { refuseObeyed } from '../../../metering/members.ts';
import { type Audio, COUNTS, type ParsedRequest } from '../../../metering/meter.ts';
import type { Call } from '../../call.ts';
import { NAMES_AN_ID } from '../../resources/referenced-ids.ts';
import type { SentBody, UpstreamBody } from '../../upstream/body.ts';
import { checkCount, modelNamed, nameIn } from '../call-body.ts';
import { INSPECTED_FIELDS } from '../members.ts';
import { type Edit, edited, exchanger, Spool, Upload } from '../spool/spool.ts';
import { type Part, readForm } from './read-form.ts';
import { writtenForm } from './write-form.ts';

const TRUE: ReadonlySet<string> = new Set(['true', '1', 'on', 'yes']);

/**
 * Check 9 of specification section 3 for an upload (multipart form). Fields may come in any order, so `model` may
 * follow the file. `sent` is the form rebuilt for the upstream. `asked` gets the fields before they are checked. Throws
 * GatewayError.
 */
export async function readFormBody(
  received: unknown,
  sentAs: string | undefined,
  catalog: Catalog,
  call: Pick<Call, 'endpoint' | 'deployment' | 'compiled'>,
  asked: (value: Readonly<Record<string, unknown>>, isStream: boolean) => void,
): Promise<{ readonly body: ParsedRequest; readonly sent: UpstreamBody }> {
  const { endpoint, deployment } = call;
  const source = sourceOf(received);
  const parts = await readForm(source, sentAs);
  refuseRepeated(parts);
  if (endpoint.body === 'audio') refuseAddresses(parts);
  const value: Record<string, unknown> = Object.create(null);
  for (const { name, text } of parts) if (text !== undefined) value[name] = text;
  const isStream = typeof value.stream === 'string' && TRUE.has(value.stream.toLowerCase());
  asked(value, isStream);
  const model = modelNamed(nameIn(value, call), catalog, call);
  if (deployment !== undefined && value.model === undefined) parts.push(modelPart(source.size));
  for (const name of COUNTS) {
    const text = value[name];
    if (text === undefined) continue;
    value[name] = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    checkCount(name, value[name]);
  }
  // Of random digits, so that it occurs in no file.
  const boundary = randomUUID();
  const { edits, naming } = writtenForm(parts, source.size, boundary, model.upstreamModel);
  const original = Buffer.isBuffer(received) ? received : new Upload(source);
  const bytes = edited(original, edits);
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const sent = { bytes, contentType, injectedUsage: false, addedOptions: false };
  const named = model.targets && naming ? namesOf(exchanger(original, bytes, edits), naming) : undefined;
  const body: ParsedRequest = {
    kind: 'form',
    model,
    value,
    scalars: value,
    isStream,
    textBytes: parts.reduce((sum, { text, start, end }) => (text === undefined ? sum : sum + end - start), 0),
    files: parts.filter(({ text }) => text === undefined).length,
    audio: endpoint.body === 'audio' ? await audioIn(parts, source) : undefined,
    elidedStrings: undefined,
    hints: undefined,
  };
  return { body, sent: named ? { ...sent, formOf: (name) => ({ ...sent, bytes: named(name) }) } : sent };
}

/** The field that a form lacks whose model the address names. */
function modelPart(at: number): Part {
  return { name: 'model', fileName: undefined, type: undefined, text: '', start: at, end: at };
}

/**
 * Refuses an inspected field that is repeated, is a file, or is spelled so that an upstream could read it as the field.
 */
function refuseRepeated(parts: readonly Part[]): void {
  const seen = new Set<string>();
  for (const { name, text } of parts) {
    const plain = name.trim().replace(/\[\d*\]$/, '');
    const folded = foldName(plain);
    refuseObeyed(foldName(name.trim().split('[', 1)[0] as string));
    if (!INSPECTED_FIELDS.has(folded) && !NAMES_AN_ID.test(name)) continue;
    if (seen.has(folded)) {
      throw invalidJson(`The form has the field "${folded}" more than once. Send it once.`, folded);
    }
    if (plain !== folded && INSPECTED_FIELDS.has(folded)) throw otherCase('The form', name, folded);
    if (text === undefined) throw invalidJson(`Send the field "${name}" as text, not as a file.`, name);
    seen.add(folded);
  }
}

/** Fields with the address of audio, which some providers load instead of the file. Only the file is measured. */
const NAMES_AN_ADDRESS = /(?:ur[il]|source)s?$/;

function refuseAddresses(parts: readonly Part[]): void {
  for (const { name, text } of parts) {
    if (text === undefined || !NAMES_AN_ADDRESS.test(foldName(plainName(name)))) continue;
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
async function audioIn(parts: readonly Part[], body: ByteSource): Promise<Audio> {
  const [file, ...others] = parts.filter(({ name, text }) => text === undefined || name === 'file');
  if (file?.name !== 'file' || file.text !== undefined || others.length > 0) {
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

function namesOf(
  exchange: ReturnType<typeof exchanger>,
  naming: Edit,
): (upstreamModel: string) => SentBody['bytes'] {
  return (upstreamModel) => exchange(new Map([[naming, upstreamModel]]));
}
