import { CLIENT_QUIRKS } from '../domain/clients.ts';
import { invalidField } from '../domain/errors.ts';
import { addRounds, NO_ROUNDS, type ProviderTools, type Rounds, UNNAMED_ROUNDS } from './bounds.ts';
import { type Members, otherModelsIn } from './members.ts';
import {
  type FieldToSet,
  listOf,
  refuseModels,
  SEARCHES,
  type Surcharge,
  shown,
  type ToolBound,
  toolOf,
  wholeNumberOf,
} from './plan.ts';
import type { CacheLife } from './terms.ts';

/**
 * Kind of a tool, by its cost in addition to its definition.
 *
 * - `client`: none; the client runs it.
 * - `listed`: the provider searches the request's own tools. Each use is an extra pass and adds no text.
 * - `free`: the provider runs it without a fee, and the model reads the results.
 * - `open`: as `free`, with unbounded results.
 * - `search`, `preview`: as `free`, with a fee for each web search; `web_search_preview…` has a different fee.
 * - `model`: runs another model.
 * - `fee`: unknown, or run for a fee without a unit.
 */
type ToolKind = 'client' | 'listed' | 'free' | 'open' | 'search' | 'preview' | 'model' | 'fee';

type Tool = Readonly<Record<string, unknown>>;

/** OpenAI's Responses (`Tool` in openai's resources/responses/responses.d.ts). New types count as `fee`. */
const RESPONSES: ReadonlyMap<unknown, ToolKind | ((tool: Tool) => ToolKind)> = new Map<
  unknown,
  ToolKind | ((tool: Tool) => ToolKind)
>([
  ['function', 'client'],
  ['custom', 'client'],
  ['local_shell', 'client'],
  ['apply_patch', 'client'],
  ['computer', 'client'],
  ['computer_use_preview', 'client'],
  // A group of client functions.
  ['namespace', 'client'],
  ['tool_search', ({ execution }) => (execution === 'client' ? 'client' : 'listed')],
  ['shell', ({ environment }) => (typeOf(environment) === 'local' ? 'client' : 'fee')],
  ['mcp', 'open'],
  // Storage and a fee for each use; containers by the hour; pictures.
  ['file_search', 'fee'],
  ['code_interpreter', 'fee'],
  ['programmatic_tool_calling', 'fee'],
  ['image_generation', 'fee'],
]);

/** Whether a tool type of the Responses API is in the table. */
export function knowsResponsesTool(type: string): boolean {
  return RESPONSES.has(type) || type.startsWith('web_search');
}

/** The kind of a tool of the Responses API. */
export function responsesToolKind(tool: Tool): ToolKind {
  const { type } = tool;
  const known = RESPONSES.get(type) ?? searchKind(type);
  return typeof known === 'function' ? known(tool) : known;
}

/** Web search types end in a date. */
function searchKind(type: unknown): ToolKind {
  if (typeof type !== 'string' || !type.startsWith('web_search')) return 'fee';
  return type.startsWith('web_search_preview') ? 'preview' : 'search';
}

/** Anthropic's Messages (`BetaToolUnion` in @anthropic-ai/sdk's resources/beta/messages/messages.d.ts), by type prefix. */
const MESSAGES: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(custom$|bash_|text_editor_|computer_|memory_|browser_)/, 'client'],
  [/^tool_search_tool_/, 'listed'],
  [/^web_search_/, 'search'],
  [/^web_fetch_/, 'free'],
  [/^mcp_toolset$/, 'open'],
  [/^advisor_/, 'model'],
  // Containers by the hour.
  [/^code_execution_/, 'fee'],
];

/** Whether a tool type of the Messages API is in the table. */
export function knowsMessagesTool(type: string): boolean {
  return MESSAGES.some(([begins]) => begins.test(type));
}

/** The kind of a Messages tool. A tool without a type is a client tool. */
export function messagesToolKind({ type }: Tool): ToolKind {
  if (type === undefined || type === null) return 'client';
  if (typeof type !== 'string') return 'fee';
  return MESSAGES.find(([begins]) => begins.test(type))?.[1] ?? 'fee';
}

const USES: readonly ToolBound[] = ['max_uses'];
const USES_AND_CONTENT: readonly ToolBound[] = ['max_uses', 'max_content_tokens'];
const UNBOUNDED: readonly ToolBound[] = [];

/** Members that bound a Messages tool; empty if its rounds are unbounded. */
export function messagesToolBounds({ type }: Tool): readonly ToolBound[] {
  const name = String(type);
  if (/^web_fetch_/.test(name)) return USES_AND_CONTENT;
  return /^(?:web_search_|advisor_)/.test(name) ? USES : UNBOUNDED;
}

function typeOf(value: unknown): unknown {
  return (value as { type?: unknown } | null | undefined)?.type;
}

function adviceOn(type: unknown): Pick<Surcharge, 'advice' | 'setting'> {
  const { tool, advice, setting } = CLIENT_QUIRKS.cline;
  return type === tool ? { advice, setting } : {};
}

/** Most tool bounds that the gateway adds to a request; no provider has as many kinds of tools. */
const MAX_SET = 32;

/** The tools of a wire format. */
export interface ToolFormat {
  readonly members: Members;
  readonly kindOf: (tool: Tool) => ToolKind;
  /** Identifies a tool without a type. */
  readonly identity: 'function' | 'name';
  /** Members that bound a tool; absent: none. */
  readonly boundsOf?: (tool: Tool) => readonly ToolBound[];
}

/** Counts the tools in all places of a request. */
export class ToolTally {
  readonly #format: ToolFormat;
  readonly #otherModels: readonly string[];
  readonly #cacheLife: CacheLife;
  readonly charges: Surcharge[] = [];
  /** Bounds that the request leaves open and the gateway sends. */
  readonly sets: FieldToSet[] = [];
  count = 0;
  /** Definitions with a vendor type. */
  typed = 0;
  /** Types of provider-run tools. */
  readonly provided: string[] = [];
  /** The model reads results of some tool. */
  isGrowing = false;
  /** The results of some tool are unbounded. */
  isOpen = false;
  /** Kind of web search. With both kinds, all searches are charged as `preview`. */
  searches: 'search' | 'preview' | undefined;
  /** Rounds of tools with a bound. */
  #rounds: Rounds = NO_ROUNDS;
  #growing: Rounds = NO_ROUNDS;
  #searches: Rounds = NO_ROUNDS;
  #contentTokens = 0;
  /** Some tool has no bound; some tool without a bound adds text. */
  #isUnbounded = false;
  #isUnboundedGrowing = false;

  constructor(format: ToolFormat, cacheLife: CacheLife) {
    this.#format = format;
    this.#otherModels = otherModelsIn(format.members);
    this.#cacheLife = cacheLife;
  }

  /** Adds the tools in field `param`, including grouped ones. Throws 400 `invalid_field` for a value that is not a tool. */
  add(list: unknown, param: string): void {
    const open = [listOf(list, param)];
    // The list grows while it is walked. No recursion, because clients decide how deep their JSON is.
    for (const tools of open) {
      for (const one of tools) {
        const tool = toolOf(one, param, this.#format.identity);
        this.#add(tool, param);
        if (tool.type === 'namespace') open.push(listOf(tool.tools, param));
      }
    }
  }

  get isProvided(): boolean {
    return this.provided.length > 0;
  }

  /** Bounds for tools that each have their own limit. `isOpen`: the request also has MCP servers. */
  rounds(isOpen = false): ProviderTools {
    const isUnbounded = this.#isUnbounded || isOpen;
    return {
      rounds: isUnbounded ? addRounds(this.#rounds, UNNAMED_ROUNDS) : this.#rounds,
      growing: this.#isUnboundedGrowing ? addRounds(this.#growing, UNNAMED_ROUNDS) : this.#growing,
      searches: this.#searches,
      contentTokens: this.#contentTokens,
      isOpen: this.isOpen || isOpen,
    };
  }

  #add(tool: Tool, param: string): void {
    this.count++;
    if (typeof tool.type === 'string') this.typed++;
    this.#cacheLife.read(tool);
    const kind = this.#format.kindOf(tool);
    refuseModels(kind === 'model' ? { model: tool.type } : tool, this.#otherModels, param);
    if (kind === 'client') return;
    this.provided.push(String(tool.type).slice(0, 100));
    this.#bound(tool, kind, param);
    if (kind === 'search' || kind === 'preview') {
      if (this.searches !== 'preview') this.searches = kind;
      this.charges.push({ param, ...SEARCHES[kind] });
    }
    if (kind === 'fee')
      this.charges.push({ param, what: `tools of type ${shown(tool.type)}`, ...adviceOn(tool.type) });
  }

  #bound(tool: Tool, kind: ToolKind, param: string): void {
    const isGrowing = kind !== 'listed';
    if (isGrowing) this.isGrowing = true;
    if (kind === 'open') this.isOpen = true;
    const bounds = this.#format.boundsOf?.(tool) ?? [];
    if (bounds.includes('max_content_tokens')) {
      const tokens = this.#named(tool, 'max_content_tokens', param);
      this.#contentTokens = Math.max(this.#contentTokens, tokens ?? 0);
    }
    if (!bounds.includes('max_uses')) {
      this.#isUnbounded = true;
      if (isGrowing) this.#isUnboundedGrowing = true;
      return;
    }
    const uses = this.#named(tool, 'max_uses', param);
    const rounds: Rounds = uses === undefined ? { named: 0, sent: 1 } : { named: uses, sent: 0 };
    this.#rounds = addRounds(this.#rounds, rounds);
    this.#growing = addRounds(this.#growing, rounds);
    if (kind === 'search') this.#searches = addRounds(this.#searches, rounds);
  }

  /** Returns a bound in a tool. If it is absent, registers it to be sent and returns undefined. */
  #named(tool: Tool, name: ToolBound, param: string): number | undefined {
    const value = wholeNumberOf(tool[name], param, `${name} of a tool`);
    if (value === undefined) {
      if (this.sets.length >= MAX_SET)
        throw invalidField(param, `${param} has too many provider-run tools. Send fewer.`);
      this.sets.push({ list: param, of: tool, name });
    }
    return value;
  }
}
