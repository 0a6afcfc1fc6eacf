import { tokensIn } from '../../../src/metering/text-tokens.ts';
import { type Piece, tokensOf } from '../../helper/start/broken-stream.ts';
import { breakEverywhere, type StreamFormat } from './every-break.ts';

const QUESTION = 'Which words are the longest, and why?';
const TEXT = 'Incomprehensibilities, "quoted" \n and Grüße aus 日本 😀. '.repeat(8);
const slices = (text: string) => text.match(/[\s\S]{1,3}/gu) ?? [];
let sequence = 0;
const event = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: sequence++ })}\n\n`;
const response = (status: string, usage: object | null) => ({
  id: 'resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654',
  object: 'response',
  created_at: 1_741_290_958,
  status,
  error: null,
  incomplete_details: null,
  output: [],
  store: true,
  usage,
});
const USAGE = {
  input_tokens: 37,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 11,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 48,
};

/** Events as in OpenAI's reference; the text of each item comes again when the item is done. */
function responses(name: string, kind: string, texts: readonly string[]): StreamFormat {
  const place = { item_id: 'msg_67c9fdcf37fc8190ba82116e33fb28c5', output_index: 0, content_index: 0 };
  const pieces: Piece[] = [
    { sent: event({ type: 'response.created', response: response('in_progress', null) }) },
    { sent: event({ type: 'response.in_progress', response: response('in_progress', null) }) },
    { sent: event({ type: 'response.output_item.added', output_index: 0, item: { id: place.item_id } }) },
    ...texts.map((delta) => ({
      sent: event({ type: `response.${kind}.delta`, ...place, delta, logprobs: [], obfuscation: 'Kx9' }),
      says: delta,
    })),
    { sent: event({ type: `response.${kind}.done`, ...place, text: texts.join(''), logprobs: [] }) },
    { sent: event({ type: 'response.output_item.done', output_index: 0, item: { id: place.item_id } }) },
    { sent: event({ type: 'response.completed', response: response('completed', USAGE) }) },
  ];
  return {
    name,
    path: '/v1/responses',
    body: JSON.stringify({ model: 'tokens', stream: true, input: QUESTION }),
    pieces,
    middle: Math.floor(pieces.length / 2),
    beforeUsage: pieces.length - 1,
    cost: (sent) => ({
      estimated: true,
      tokens: { input: tokensIn(QUESTION), output: tokensOf(sent) },
    }),
    error: event({ type: 'error', code: 'server_error', message: 'Something went wrong', param: null }),
  };
}

const text = responses('responses', 'output_text', slices(TEXT));
const failure = { code: 'server_error', message: 'The model failed to generate a response.' };

breakEverywhere([
  text,
  responses('responses that reason', 'reasoning_summary_text', slices(TEXT)),
  responses(
    'responses that call',
    'function_call_arguments',
    slices('{"location":"Zürich","unit":"celsius"}'),
  ),
  {
    ...text,
    name: 'responses that fail by their last event',
    error: event({ type: 'response.failed', response: { ...response('failed', null), error: failure } }),
  },
]);
