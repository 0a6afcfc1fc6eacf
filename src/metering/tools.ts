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
 * Kind of a tool, by its cost beyond its definition. `client`: none, since the client runs it. `listed`: the provider finds
 * tools among those of the request, so each use is one more pass and adds no text. `free`: the provider runs it, and the
 * model reads what it finds, without a fee. `open`: as `free`, and nothing bounds how much that is. `search` and `preview`: as
 * `free`, with a fee for each web search, which is another one for tools of the type `web_search_preview…`. `model`: another
 * model runs.
 * `fee`: the provider runs it for a fee that no unit charges, or it is unknown.
 */
type ToolKind = 'client' | 'listed' | 'free' | 'open' | 'search' | 'preview' | 'model' | 'fee';

type Tool = Readonly<Record<string, unknown>>;

/**
 * OpenAI's Responses (`Tool` in openai's resources/responses/responses.d.ts). Types that are not here are new, and count as
 * having a fee.
 */
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
  // A group of functions of the client.
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

/** Versions of the web search end in a date. */
function searchKind(type: unknown): ToolKind {
  if (typeof type !== 'string' || !type.startsWith('web_search')) return 'fee';
  return type.startsWith('web_search_preview') ? 'preview' : 'search';
}

/** Anthropic's Messages (`BetaToolUnion` in @anthropic-ai/sdk's resources/beta/messages/messages.d.ts), by how types begin. */
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

/** The kind of a tool of the Messages API. A tool without a type is the client's own. */
export function messagesToolKind({ type }: Tool): ToolKind {
  if (type === undefined || type === null) return 'client';
  if (typeof type !== 'string') return 'fee';
  return MESSAGES.find(([begins]) => begins.test(type))?.[1] ?? 'fee';
}

const USES: readonly ToolBound[] = ['max_uses'];
const USES_AND_CONTENT: readonly ToolBound[] = ['max_uses', 'max_content_tokens'];
const UNBOUNDED: readonly ToolBound[] = [];

/** The members that bound a tool of the Messages API; none for one whose rounds nothing bounds. */
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

/** Most tools of one request whose bound the gateway sends: no provider has as many kinds of them. */
const MAX_SET = 32;

/** The tools of a wire format. */
export interface ToolFormat {
  /** The table of their members. */
  readonly members: Members;
  readonly kindOf: (tool: Tool) => ToolKind;
  /** The member of a tool without a type. */
  readonly identity: 'function' | 'name';
  /** The members that bound a tool; absent: there are none. */
  readonly boundsOf?: (tool: Tool) => readonly ToolBound[];
}

/** The tools of a request, wherever they stand, counted as they are found. */
export class ToolTally {
  readonly #format: ToolFormat;
  readonly #otherModels: readonly string[];
  readonly #cacheLife: CacheLife;
  readonly charges: Surcharge[] = [];
  /** Bounds of tools that the request leaves open, which the gateway sends. */
  readonly sets: FieldToSet[] = [];
  /** Number of all definitions. */
  count = 0;
  /** Definitions with a type of the vendor's. */
  typed = 0;
  /** Types of those that the provider runs, as the request has them. */
  readonly provided: string[] = [];
  /** The model reads the results of some of them. */
  isGrowing = false;
  /** Nothing bounds how much some of them find. */
  isOpen = false;
  /** How any of them searches the web: `preview` if both kinds do, as all searches are charged so then. */
  searches: 'search' | 'preview' | undefined;
  /** Rounds of the tools that have a bound of their own. */
  #rounds: Rounds = NO_ROUNDS;
  #growing: Rounds = NO_ROUNDS;
  #searches: Rounds = NO_ROUNDS;
  #contentTokens = 0;
  /** Some tool has no bound, and some of these find text. */
  #isUnbounded = false;
  #isUnboundedGrowing = false;

  constructor(format: ToolFormat, cacheLife: CacheLife) {
    this.#format = format;
    this.#otherModels = otherModelsIn(format.members);
    this.#cacheLife = cacheLife;
  }

  /**
   * Adds a list of tools, those of the groups within it too. `param`: the field of the request that holds it. Throws 400
   * `invalid_field` for what is no tool.
   */
  add(list: unknown, param: string): void {
    const open = [listOf(list, param)];
    // The list grows while it is walked: a client decides how deep its JSON is.
    for (const tools of open) {
      for (const one of tools) {
        const tool = toolOf(one, param, this.#format.identity);
        this.#add(tool, param);
        if (tool.type === 'namespace') open.push(listOf(tool.tools, param));
      }
    }
  }

  /** Whether the provider runs any of them. */
  get isProvided(): boolean {
    return this.provided.length > 0;
  }

  /** Bounds of the tokens they make the model read, if each has its own bound. `isOpen`: so do servers beside them. */
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

  /** A bound that a tool names; undefined if it names none, and the gateway sends it. */
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
