/** Preloaded into the gateway of the profile `soak`, with --expose-gc: SIGUSR2 throws away all garbage. */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.();
});
