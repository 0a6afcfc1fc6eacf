import type { Test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { ADMIN_TOKEN, type Ended, makePlace, run, startGatewayProcess } from './gateway-process.ts';

/** Runs `tollgate` with these arguments, in a process of its own. */
export function tollgate(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): Promise<Ended> {
  return run('cli.ts', env, args, input);
}

/** A running gateway, and `tollgate` as its operator uses it: with its address and the token in the environment. */
export async function startGatewayForCommands(t: Test) {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const env = { PORT: new URL(gateway.url).port, ADMIN_TOKEN };
  return {
    gateway,
    place,
    /** The default address of the commands is made of PORT. */
    env,
    operator: (...args: string[]) => tollgate(args, env),
    /** What it prints as JSON. */
    async json<Answer>(...args: string[]): Promise<Answer> {
      const { code, output, errors } = await tollgate([...args, '--json'], env);
      if (code !== 0) throw new Error(`tollgate ${args.join(' ')} ended with ${code}: ${errors}`);
      return JSON.parse(output) as Answer;
    },
  };
}
