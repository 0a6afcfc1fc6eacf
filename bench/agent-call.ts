import type { Behavior } from '../test/helper/stand-ins/scripted-provider.ts';
import type { CallRequest } from './call-request.ts';
import { BEHAVIOR_HEADER, CALLER_HEADERS, CHAT_PATH, MODEL } from './wire.ts';

const TOOLS = 32;
/** Rounds of "call a tool, read its result" in the history. */
const ROUNDS = 48;

/**
 * A chat call of a coding agent late in a session: 228 KB of tools, tool calls and results. The same for every target.
 */
export function agentCall(
  key: string,
  { stream = false, behavior }: { stream?: boolean; behavior?: Behavior } = {},
): CallRequest {
  return {
    method: 'POST',
    path: CHAT_PATH,
    headers: {
      ...CALLER_HEADERS,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(behavior ? { [BEHAVIOR_HEADER]: JSON.stringify(behavior) } : {}),
    },
    body: JSON.stringify({
      model: MODEL,
      max_tokens: 4_096,
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      messages: [
        { role: 'system', content: INSTRUCTIONS.repeat(56) },
        { role: 'user', content: 'Find out why the test of the parser fails, and fix it.' },
        ...Array.from({ length: ROUNDS }, (_, round) => roundOf(round)).flat(),
      ],
      tools: Array.from({ length: TOOLS }, (_, index) => toolOf(index)),
      tool_choice: 'auto',
      parallel_tool_calls: true,
    }),
  };
}

const INSTRUCTIONS =
  'You are a coding agent. Read a file before you change it — never guess. Run the tests after each change:\n' +
  '- explain in one sentence what you do next;\n- prefer small changes;\n- say "done" when all tests pass.\n';

/** Source code, as returned by a tool: lines, indentation, quotes, and some non-ASCII letters. */
function sourceOf(round: number): string {
  const lines = Array.from({ length: 42 }, (_, line) =>
    line % 7 === 0
      ? `\n/** Reads part ${line} of module ${round} → returns what is left. */`
      : `${'\t'.repeat(line % 4)}const value${line} = parse(input[${line * round}], "option-${line}", { strict: true, depth: ${line} });`,
  );
  return lines.join('\n');
}

function roundOf(round: number): unknown[] {
  const id = `call_${round.toString(36).padStart(24, 'a')}`;
  const path = `src/modules/module-${round}/parser.ts`;
  const args = JSON.stringify({ path, offset: round * 10, limit: 400, pattern: `value${round}\\s*=\\s*"` });
  return [
    {
      role: 'assistant',
      content: `I read ${path} to see how it parses its input.`,
      tool_calls: [{ id, type: 'function', function: { name: `tool_${round % TOOLS}`, arguments: args } }],
    },
    { role: 'tool', tool_call_id: id, content: sourceOf(round) },
  ];
}

function toolOf(index: number): unknown {
  const parameter = (name: string) => [
    name,
    {
      type: 'string',
      description: `The ${name} that the tool works on. Relative to the root of the project.`,
    },
  ];
  return {
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: 'Reads, searches or changes files of the project. Call it once for each file.\n'.repeat(4),
      parameters: {
        type: 'object',
        properties: {
          ...Object.fromEntries(['path', 'pattern', 'replacement', 'reason'].map(parameter)),
          offset: { type: 'integer', minimum: 0 },
          limit: { type: 'integer', minimum: 1, maximum: 2_000 },
          mode: { type: 'string', enum: ['read', 'search', 'replace'] },
        },
        required: ['path', 'mode'],
        additionalProperties: false,
      },
    },
  };
}
