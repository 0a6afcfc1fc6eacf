import { type GatewayProcess, type Place, startGatewayProcess } from '../../helper/start/gateway-process.ts';
import type { Scope } from '../../helper/start/scope.ts';

/** One life of a gateway, from its start to its end. */
export interface Life {
  readonly slot: number;
  /** Prefix of the ids of its calls (domain/request-id.ts). */
  readonly prefix: string;
  /**
   * Time at which it was killed, in milliseconds since the epoch; undefined if it is running or was stopped cleanly.
   */
  killedAt: number | undefined;
  /** Time by which it was stopped cleanly; undefined if it is running or was killed. */
  stoppedAt?: number | undefined;
}

/** Characters of that prefix: `req_` and 16 of the process, after which a count follows. */
const PREFIX_LENGTH = 20;
const AGAIN_MS = 100;

/** A place for a gateway. It can be restarted any number of times, always at the same address. */
export class GatewaySlot {
  readonly index: number;
  readonly url: string;
  readonly lives: Life[] = [];
  /** Ends of the gateway that the driver did not cause, with its output. */
  readonly crashes: string[] = [];
  readonly #scope: Scope;
  readonly #place: Place;
  readonly #outputs: (() => string)[] = [];
  #gateway: GatewayProcess | undefined;
  #reviving: Promise<void> | undefined;
  #stopped = false;

  constructor(scope: Scope, place: Place, index: number, port: number) {
    this.index = index;
    this.url = `http://127.0.0.1:${port}`;
    this.#scope = scope;
    this.#place = place;
  }

  get isUp(): boolean {
    return this.#gateway !== undefined;
  }

  get life(): Life | undefined {
    return this.lives.at(-1);
  }

  async start(): Promise<void> {
    const gateway = await startGatewayProcess(this.#scope, this.#place);
    this.#outputs.push(gateway.output);
    const response = await fetch(`${gateway.url}/healthz`);
    const prefix = (response.headers.get('x-request-id') ?? '').slice(0, PREFIX_LENGTH);
    this.lives.push({ slot: this.index, prefix, killedAt: undefined });
    this.#gateway = gateway;
    void gateway.ended.then(({ code, signal, errors }) => {
      if (this.#gateway !== gateway) return;
      this.#gateway = undefined;
      this.crashes.push(`gateway ${this.index} ended by itself with ${code ?? signal}: ${errors}`);
    });
  }

  /** Sends SIGKILL. Restarts the gateway after `downMs`, as often as needed. Returns false if it is already down. */
  kill(downMs: number): boolean {
    const gateway = this.#gateway;
    if (!gateway || this.#stopped) return false;
    process.kill(gateway.pid, 'SIGKILL');
    this.#gateway = undefined;
    if (this.life) this.life.killedAt = Date.now();
    this.#reviving = gateway.ended
      .then(() => new Promise((resolve) => setTimeout(resolve, downMs)))
      .then(() => this.#revive());
    return true;
  }

  /** Suspends the process for a time, like a machine that swaps. Returns false if it is down. */
  freeze(forMs: number): Promise<void> | false {
    const gateway = this.#gateway;
    if (!gateway || this.#stopped) return false;
    process.kill(gateway.pid, 'SIGSTOP');
    let isGone = false;
    void gateway.ended.then(() => {
      isGone = true;
    });
    return new Promise<void>((resolve) => setTimeout(resolve, forMs)).then(() => {
      if (!isGone) process.kill(gateway.pid, 'SIGCONT');
    });
  }

  /** Sends SIGTERM. Restarts the gateway after its calls have ended. Returns false if it is down. */
  restart(): Promise<void> | false {
    const gateway = this.#gateway;
    if (!gateway || this.#stopped) return false;
    this.#gateway = undefined;
    const { life } = this;
    this.#reviving = gateway.stop().then(({ code, errors }) => {
      if (life) life.stoppedAt = Date.now();
      if (code !== 0) this.crashes.push(`gateway ${this.index} stopped with ${code}: ${errors}`);
      return this.#revive();
    });
    return this.#reviving;
  }

  async #revive(): Promise<void> {
    while (!this.#stopped) {
      try {
        return await this.start();
      } catch {
        // Redis or the book is away, so this restarts it, as a supervisor would.
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** Resolves when the gateway is up again. */
  async revived(): Promise<void> {
    await this.#reviving;
  }

  /** Sends SIGTERM. Resolves with the exit code and the whole output of the gateway. */
  async stop(): Promise<{ code: number | null; errors: string; output: string }> {
    this.#stopped = true;
    await this.#reviving;
    const gateway = this.#gateway;
    this.#gateway = undefined;
    const ended = await gateway?.stop();
    return ended ?? { code: null, errors: 'it was not up', output: '' };
  }

  /** All logs of the gateways in this place. */
  logs(): string {
    return this.#outputs.map((output) => output()).join('');
  }

  /** Ends the gateway immediately, after a history of any outcome. */
  abandon(): void {
    this.#stopped = true;
    if (this.#gateway) process.kill(this.#gateway.pid, 'SIGKILL');
    this.#gateway = undefined;
  }
}
