import type { Command } from 'commander';
import type { ProviderListView } from '../api/operator/providers-view.ts';
import { type RemoteOptions, remote } from './arguments.ts';
import { operatorApi } from './gateway-api.ts';
import { print, printJson, printTable } from './print.ts';

/** `tollgate providers`: the providers of a running gateway, and the health of their targets. */
export function providersCommand(program: Command): void {
  remote(program.command('providers'))
    .description('list the providers, the models that run there, and their health')
    .action(providers);
}

async function providers(options: RemoteOptions): Promise<void> {
  const list = await operatorApi(options).call<ProviderListView>('GET', '/api/admin/providers/');
  if (options.json) return printJson(list);
  const targets = list.providers.flatMap(({ format, targets: of }) =>
    of.map((target) => ({ format, ...target })),
  );
  printTable(
    ['TARGET', 'FORMAT', 'MODEL', 'STATE', 'LATENCY', 'CALLS', 'LAST ERROR'],
    targets.map(
      ({ target, format, model, state, out_until, latency_ms, calls, last_error, last_error_at }) => [
        target,
        format,
        model,
        out_until === null ? state : `${state} until ${out_until}`,
        latency_ms === null ? '-' : `${latency_ms} ms`,
        String(calls),
        last_error === null ? '-' : `${last_error_at}: ${last_error}`,
      ],
    ),
  );
  const out = targets.filter(({ state }) => state === 'out').length;
  print('');
  print(`${targets.length} targets: ${targets.length - out} up, ${out} out.`);
}
