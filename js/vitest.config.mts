import { defineConfig } from 'vitest/config';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    environment: 'happy-dom',
    include: ['tests/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    unstubGlobals: true,
    // A process for each file would spend most of its time on loading happy-dom.
    isolate: false,
    setupFiles: ['tests/fresh.ts'],
    // A hanging test is noticed all the same, and a busy machine is not taken for one.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
});
