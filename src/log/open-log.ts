import { type Logger, pino } from 'pino';

/**
 * The log of the program, on stdout: JSON lines, or coloured text where that is a terminal (NO_COLOR turns the colours
 * off). Text is made by pino-pretty, which is loaded only then.
 */
export async function openLog(level: string): Promise<Logger> {
  const options = { level, base: null };
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  // Written at once: what a program says last must not be lost, and the terminal of a person is not a hot path.
  return pino(options, pretty({ sync: true, destination: 1, translateTime: 'SYS:HH:MM:ss.l' }));
}
