import { runCommand } from '../../../src/cli/run.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from './gateway-in-process.ts';
import type { Ended } from './gateway-process.ts';
import type { Scope } from './scope.ts';

/** Runs `tollgate` in the test's process, with this environment and nothing else. `input` is its stdin, `isTTY` for a terminal. */
export async function tollgate(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
  isTTY = false,
): Promise<Omit<Ended, 'signal'>> {
  let output = '';
  let errors = '';
  const code = await runCommand(args, {
    env,
    stdout: { isTTY, write: (text) => (output += text) },
    stderr: { write: (text) => (errors += text) },
    readInput: () => input,
  });
  return { code, output, errors };
}

/**
 * Starts a gateway and returns its `tollgate` command, with address and token in the environment, as an operator uses
 * it.
 */
export async function startGatewayForCommands(t: Scope) {
  const gateway = await startGatewayInProcess(t);
  const env = { PORT: new URL(gateway.url).port, ADMIN_TOKEN };
  return {
    gateway,
    /** Environment of the commands. Their default address is made from PORT. */
    env,
    operator: (...args: string[]) => tollgate(args, env),
    /** Runs a command and parses the JSON that it prints. */
    async json<Answer>(...args: string[]): Promise<Answer> {
      const { code, output, errors } = await tollgate([...args, '--json'], env);
      if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}: ${errors}`);
      return JSON.parse(output) as Answer;
    },
  };
}
