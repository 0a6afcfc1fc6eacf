import type { Test } from 'tap';
import { startDemoProvider } from '../../../src/demo/demo-provider.ts';
import { ADMIN_TOKEN, type Ended, makePlace, run, startGatewayProcess } from './gateway-process.ts';

/** Runs `tollgate` with these arguments in its own process. */
export function tollgate(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): Promise<Ended> {
  return run('cli.js', env, args, input);
}

/**
 * Starts a gateway and returns its `tollgate` command, with address and token in the environment, as an operator uses
 * it.
 */
export async function startGatewayForCommands(t: Test) {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const env = { PORT: new URL(gateway.url).port, ADMIN_TOKEN };
  return {
    gateway,
    place,
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
