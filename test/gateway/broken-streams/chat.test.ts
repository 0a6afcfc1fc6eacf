import { tokensIn } from '../../../src/metering/text-tokens.ts';
import { type Piece, tokensOf } from '../../helper/start/broken-stream.ts';
import { breakEverywhere, type StreamFormat } from './every-break.ts';

const QUESTION = 'Which words are the longest, and why? Grüße aus 日本.';
const TEXT =
  'Unbelievably counterintuitive antidisestablishmentarianism: "words" are cut\nwhere no tokenizer would. Grüße, 日本語 😀. '.repeat(
    4,
  );

/** A text as a model might stream it, cut in the worst places: every three characters. */
const slices = (text: string) => [...text].join('').match(/[\s\S]{1,3}/gu) ?? [];

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const HEAD = {
  id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  created: 1_741_570_283,
  model: 'gpt-4o-2024-08-06',
};
const USAGE = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};

interface Delta {
  readonly delta: object;
  readonly says?: string;
  readonly choice?: number;
}

/** Chunks as OpenAI's reference shows them: a role first, a reason last, then the usage and the end. */
function chatPieces(deltas: readonly Delta[], reason = 'stop'): Piece[] {
  const chunk = (delta: object, index = 0, finish: string | null = null) =>
    event({
      ...HEAD,
      object: 'chat.completion.chunk',
      service_tier: 'default',
      system_fingerprint: 'fp_fc9f1d7035',
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      usage: null,
      obfuscation: 'jE8Nz',
    });
  return [
    { sent: chunk({ role: 'assistant', content: '', refusal: null }) },
    ...deltas.map(({ delta, says = '', choice = 0 }) => ({ sent: chunk(delta, choice), says })),
    { sent: chunk({}, 0, reason) },
    { sent: event({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: USAGE }) },
    { sent: 'data: [DONE]\n\n' },
  ];
}

function chat(name: string, pieces: readonly Piece[], more: object = {}): StreamFormat {
  const messages = [{ role: 'user', content: QUESTION }];
  return {
    name,
    path: '/v1/chat/completions',
    body: JSON.stringify({ model: 'tokens', stream: true, messages, ...more }),
    pieces,
    middle: Math.floor(pieces.length / 2),
    beforeUsage: pieces.length - 2,
    cost: (sent) => ({
      estimated: true,
      tokens: { input: tokensIn(QUESTION), output: tokensOf(sent) },
    }),
    error: event({
      error: { message: 'The server had an error', type: 'server_error', param: null, code: null },
    }),
  };
}

const said = slices(TEXT).map((content) => ({ delta: { content }, says: content }));

const call = (index: number, fragments: string[]): Delta[] => [
  {
    delta: {
      tool_calls: [
        { index, id: `call_${index}`, type: 'function', function: { name: 'get_weather', arguments: '' } },
      ],
    },
    says: 'get_weather',
  },
  ...fragments.map((fragment) => ({
    delta: { tool_calls: [{ index, function: { arguments: fragment } }] },
    says: fragment,
  })),
];
const ARGUMENTS = slices(
  JSON.stringify({ location: 'Zürich, "Altstadt"', unit: 'celsius', days: [1, 2, 3] }),
);

const together = said.flatMap(({ delta, says }, index) => {
  const other = slices(TEXT.toUpperCase())[index] ?? '';
  return [
    { delta, says, choice: 0 },
    { delta: { content: other }, says: other, choice: 1 },
  ];
});

const thought = slices(TEXT).map((text) => ({ delta: { reasoning_content: text }, says: text }));
const twice = slices(TEXT).map((text) => ({
  delta: { content: '', reasoning: text, reasoning_details: [{ type: 'reasoning.text', text }] },
  says: text,
}));

const prompts = ['One', 'Two'];
const completions: StreamFormat = {
  ...chat('completions of two prompts', []),
  path: '/v1/completions',
  body: JSON.stringify({ model: 'tokens', stream: true, prompt: prompts }),
  ...(() => {
    const chunk = (text: string, index: number, finish: string | null = null) =>
      event({
        ...HEAD,
        object: 'text_completion',
        choices: [{ text, index, logprobs: null, finish_reason: finish }],
        usage: null,
      });
    const pieces: Piece[] = [
      ...together.map(({ says, choice }) => ({ sent: chunk(says, choice), says })),
      { sent: chunk('', 0, 'stop') + chunk('', 1, 'stop') },
      { sent: event({ ...HEAD, object: 'text_completion', choices: [], usage: USAGE }) },
      { sent: 'data: [DONE]\n\n' },
    ];
    return { pieces, middle: 51, beforeUsage: pieces.length - 2 };
  })(),
  cost: (sent) => ({ estimated: true, tokens: { input: 2, output: tokensOf(sent) } }),
};

breakEverywhere([
  { ...chat('chat', chatPieces(said)), isWhole: true },
  chat('chat whose client asks for usage', chatPieces(said), { stream_options: { include_usage: true } }),
  chat('chat that calls two tools', chatPieces([...call(0, ARGUMENTS), ...call(1, ARGUMENTS)], 'tool_calls')),
  chat('chat with n of 2', chatPieces(together), { n: 2 }),
  chat('chat that reasons', chatPieces([...thought, ...said])),
  chat('chat that says its reasoning in two ways', chatPieces(twice)),
  completions,
]);
