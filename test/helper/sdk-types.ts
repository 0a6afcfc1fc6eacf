import type { Node } from 'typescript/unstable/ast';
import { isTypeAliasDeclaration } from 'typescript/unstable/ast/is';
import { API, type Checker, type Type } from 'typescript/unstable/sync';

const ROOT = new URL('../..', import.meta.url).pathname.replace(/\/$/, '');
const FOLDER = `${ROOT}/sdk-types`;
const OPTIONS = {
  strict: true,
  module: 'nodenext',
  skipLibCheck: true,
  noEmit: true,
  types: [],
  lib: ['esnext', 'dom'],
};

/** A type of an SDK by the names of its object members, read as a client would send it. */
export interface SdkType {
  /** Types of its members by name, those of every alternative of a union together; arrays as their elements. */
  members(): ReadonlyMap<string, SdkType>;
  /** Texts that the member of this name may be, where its type names them: those of `type` tell alternatives apart. */
  literals(): readonly string[];
}

/**
 * Reads types of installed packages with the compiler. `imports`: expressions of types by the names to return them under, such
 * as `import('openai/resources/completions').CompletionCreateParams`. Nothing is written: the files are in memory.
 */
export function sdkTypes(imports: ReadonlyMap<string, string>): {
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
