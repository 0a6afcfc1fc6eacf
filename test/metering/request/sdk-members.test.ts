import { t, test } from 'tap';
import type { Node } from 'typescript/unstable/ast';
import { isTypeAliasDeclaration } from 'typescript/unstable/ast/is';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { ENDPOINTS } from '../../../src/gateway/endpoints.ts';
import { TEXTUAL } from '../../../src/metering/content-parts.ts';
import { PICTURES } from '../../../src/metering/media.ts';
import type { Members } from '../../../src/metering/members.ts';
import { knowsMessagesTool, knowsResponsesTool } from '../../../src/metering/tools.ts';

const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const FOLDER = `${ROOT}/sdk-types`;
/** Part types that are audio and files. A part that is neither listed nor text is new, and counts as a file. */
const SOUNDS_AND_FILES: ReadonlySet<string> = new Set([
  'input_audio',
  'file',
  'input_file',
  'document',
  'container_upload',
]);
const OPTIONS = {
  strict: true,
  module: 'nodenext',
  skipLibCheck: true,
  noEmit: true,
  types: [],
  lib: ['esnext', 'dom'],
};

/** A type of an SDK by the names of its object members, read as a client would send it. */
interface SdkType {
  /** The types of its members by name, over all alternatives of a union. An array counts as its elements. */
  members(): ReadonlyMap<string, SdkType>;
  /** The texts that the member of this name may be, if its type lists them. Those of `type` tell alternatives apart. */
  literals(): readonly string[];
}

/**
 * Reads types of installed packages with the compiler. `imports`: expressions of types by the names to return them
 * under, such as `import('openai/resources/completions').CompletionCreateParams`. Nothing is written: the files are in
 * memory.
 */
function sdkTypes(imports: ReadonlyMap<string, string>): {
  typeOf(name: string): SdkType;
  close(): void;
} {
  const names = [...imports.keys()];
  const files: Readonly<Record<string, string>> = {
    [`${FOLDER}/tsconfig.json`]: JSON.stringify({ compilerOptions: OPTIONS, files: ['types.ts'] }),
    [`${FOLDER}/types.ts`]: names
      .map((name, index) => `export type T${index} = ${imports.get(name)};`)
      .join('\n'),
  };
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (path) => files[path],
      fileExists: (path) => (path in files ? true : undefined),
      directoryExists: (path) => (path === FOLDER ? true : undefined),
      getAccessibleEntries: (path) =>
        path === FOLDER ? { files: ['tsconfig.json', 'types.ts'], directories: [] } : undefined,
    },
  });
  const project = api.updateSnapshot({ openProject: `${FOLDER}/tsconfig.json` }).getProjects()[0];
  const source = project?.program.getSourceFile(`${FOLDER}/types.ts`);
  if (!project || !source) throw new Error('the compiler does not open the types');
  const faults = project.program.getSemanticDiagnostics(`${FOLDER}/types.ts`);
  if (faults.length > 0) throw new Error(faults.map(({ text }) => text).join('\n'));
  const reader = new Reader(project.checker, source);
  const declared = source.statements.filter(isTypeAliasDeclaration);
  return {
    typeOf(name) {
      const alias = declared[names.indexOf(name)];
      const type = alias && project.checker.getTypeFromTypeNode(alias.type);
      if (!type || type.isErrorType()) throw new Error(`no type ${name}`);
      return reader.of([type]);
    },
    close: () => api.close(),
  };
}

class Reader {
  readonly #checker: Checker;
  readonly #at: Node;

  constructor(checker: Checker, at: Node) {
    this.#checker = checker;
    this.#at = at;
  }

  of(all: readonly Type[]): SdkType {
    const alternatives = all.flatMap((type) => this.#alternatives(type));
    let members: ReadonlyMap<string, SdkType> | undefined;
    return {
      members: () => {
        members ??= this.#members(alternatives);
        return members;
      },
      literals: () =>
        alternatives.flatMap((type) => (type.isStringLiteralType() ? [String(type.value)] : [])),
    };
  }

  #alternatives(type: Type): Type[] {
    if (type.isUnionType() || type.isIntersectionType())
      return (type.getTypes() ?? []).flatMap((one) => this.#alternatives(one));
    if (type.isObjectType() && this.#checker.isArrayLikeType(type) && type.isTypeReference())
      return this.#checker.getTypeArguments(type).flatMap((one) => this.#alternatives(one));
    return [type];
  }

  #members(alternatives: readonly Type[]): ReadonlyMap<string, SdkType> {
    const found = new Map<string, Type[]>();
    for (const type of alternatives) {
      if (!type.isObjectType()) continue;
      for (const property of this.#checker.getPropertiesOfType(type)) {
        const of = this.#checker.getTypeOfSymbolAtLocation(property, this.#at);
        found.set(property.name, [...(found.get(property.name) ?? []), of]);
      }
    }
    return new Map([...found].map(([name, types]) => [name, this.of(types)]));
  }
}

const OPENAI = (module: string, type: string) => `import('openai/resources/${module}').${type}`;
const ANTHROPIC = (module: string, type: string) => `import('@anthropic-ai/sdk/resources/${module}').${type}`;

/** Types of the bodies of requests, by endpoint. Stable and beta types of Anthropic differ by what the stable lack. */
const BODIES = {
  '/v1/chat/completions': [OPENAI('chat/completions/completions', 'ChatCompletionCreateParams')],
  '/v1/completions': [OPENAI('completions', 'CompletionCreateParams')],
  '/v1/responses': [OPENAI('responses/responses', 'ResponseCreateParams')],
  '/v1/responses/compact': [OPENAI('responses/responses', 'ResponseCompactParams')],
  '/v1/embeddings': [OPENAI('embeddings', 'EmbeddingCreateParams')],
  '/v1/messages': [
    ANTHROPIC('beta/messages/messages', 'MessageCreateParams'),
    ANTHROPIC('messages/messages', 'MessageCreateParams'),
  ],
  '/v1/images/generations': [OPENAI('images', 'ImageGenerateParams')],
  '/v1/images/edits': [OPENAI('images', 'ImageEditParams')],
  '/v1/images/variations': [OPENAI('images', 'ImageCreateVariationParams')],
  '/v1/audio/speech': [OPENAI('audio/speech', 'SpeechCreateParams')],
  '/v1/audio/transcriptions': [OPENAI('audio/transcriptions', 'TranscriptionCreateParams')],
  '/v1/audio/translations': [OPENAI('audio/translations', 'TranslationCreateParams')],
  '/v1/videos': [OPENAI('videos', 'VideoCreateParams')],
} as const;

/** Parameters of Anthropic's methods that become headers. */
const HEADERS: ReadonlySet<string> = new Set(['betas', 'user_profile_id', 'workspace_id']);

/** Members of a type that its table lacks, or has without a rule for what is inside them. */
function unclassified(type: SdkType, table: Members, path = '', seen = new Set<string>()): string[] {
  return [...type.members()].flatMap(([name, of]) => {
    const at = path ? `${path}.${name}` : name;
    const member = table.get(name);
    if (!member) return HEADERS.has(at) ? [] : [at];
    if (member.isOpen || member.treatment === 'refused' || of.members().size === 0) return [];
    if (!member.within) return [`${at}, what is inside`];
    // Content may contain content; a table that is reached from itself adds nothing new.
    const visit = `${path.split('.').at(-1) ?? ''} ${[...of.members().keys()].sort().join()}`;
    if (member.within === table && seen.has(visit)) return [];
    return unclassified(of, member.within, at, new Set([...seen, visit]));
  });
}

const names = Object.entries(BODIES).flatMap(([path, types]) =>
  types.map((type, at) => [`${path} ${at}`, type] as const),
);
const TOOLS = [
  ['tools of responses', OPENAI('responses/responses', 'Tool')],
  ['tools of messages', ANTHROPIC('beta/messages/messages', 'BetaToolUnion')],
] as const;
const PARTS = [
  ['items of a response', OPENAI('responses/responses', 'ResponseInputItem')],
  ['parts of a response', OPENAI('responses/responses', 'ResponseInputContent')],
  ['parts of an answer', OPENAI('responses/responses', "ResponseOutputMessage['content'][number]")],
  ['parts of a chat', OPENAI('chat/completions/completions', 'ChatCompletionContentPart')],
  ['blocks of a message', ANTHROPIC('beta/messages/messages', 'BetaContentBlockParam')],
  [
    'blocks of a tool result',
    `Exclude<${ANTHROPIC('beta/messages/messages', "BetaToolResultBlockParam['content']")}, string | undefined>[number]`,
  ],
] as const;
const sdk = sdkTypes(new Map<string, string>([...names, ...TOOLS, ...PARTS]));
t.teardown(() => sdk.close());

function bodiesOf(path: string): SdkType[] {
  return names.filter(([name]) => name.startsWith(`${path} `)).map(([name]) => sdk.typeOf(name));
}

function tableOf(path: string): Members {
  const table = ENDPOINTS.find((endpoint) => endpoint.path === path)?.members;
  if (!table) throw new Error(`${path} has no table`);
  return table;
}

for (const path of Object.keys(BODIES)) {
  test(`${path}: every member that the installed SDK knows is priced, held, refused or free`, async (t) => {
    const found = bodiesOf(path).flatMap((body) => unclassified(body, tableOf(path)));
    t.same(found, []);
  });
}

test('every endpoint whose calls cost more than a request is compared with its SDK', async (t) => {
  const compared = ENDPOINTS.filter(({ members }) => members).map(({ path }) => path);
  t.same(new Set(compared), new Set(Object.keys(BODIES)));
});

test('a member that no table has is named, at any depth', async (t) => {
  const without = (table: Members, name: string) => new Map([...table].filter(([one]) => one !== name));
  const [body] = bodiesOf('/v1/responses');
  const table = tableOf('/v1/responses');
  t.same(unclassified(body as SdkType, without(table, 'max_tool_calls')), ['max_tool_calls']);
  const reasoning = table.get('reasoning');
  const cut = new Map(table).set('reasoning', {
    ...(reasoning as NonNullable<typeof reasoning>),
    within: without(reasoning?.within as Members, 'mode'),
  });
  t.same(unclassified(body as SdkType, cut), ['reasoning.mode']);
});

const typesOf = (name: string) => sdk.typeOf(name).members().get('type')?.literals() ?? [];

for (const [name] of PARTS) {
  test(`${name}: every type that the installed SDK knows is text, a picture, a sound or a file`, async (t) => {
    const known = typesOf(name);
    t.ok(known.length >= 2);
    t.same(
      known.filter((type) => TEXTUAL.has(type) === (PICTURES.has(type) || SOUNDS_AND_FILES.has(type))),
      [],
    );
  });
}

test('every type of tools that the installed SDKs know has a kind', async (t) => {
  const responses = typesOf('tools of responses');
  const messages = typesOf('tools of messages');
  t.ok(responses.length >= 15 && messages.length >= 25, `${responses.length} and ${messages.length}`);
  t.same(
    responses.filter((type) => !knowsResponsesTool(type)),
    [],
  );
  t.same(
    messages.filter((type) => !knowsMessagesTool(type)),
    [],
  );
});
