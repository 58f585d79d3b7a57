// What `tsc` cannot see: rules of hooks, and habits of TypeScript. Layout is prettier's.
import eslint from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Keeps modules whose address matches from being imported, also later and for their types. */
function restricted(files, address, ignores = []) {
  const message = 'A part is known only by its door, and only to the list of parts.';
  const from = `[source.value=/${address.replaceAll('/', '\\u002f')}/]`;
  return {
    files: [files],
    ignores,
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ regex: address, message }] }],
      'no-restricted-syntax': ['error', { selector: `ImportExpression${from}`, message }]
    }
  };
}

export default defineConfig(
  globalIgnores(['lib', 'src/shared/schema.ts']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx,mts}'],
    extends: [eslint.configs.recommended, tseslint.configs.recommended],
    rules: {
      // `{ gone: _gone, ...rest }` is how a key is left out.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }]
    }
  },
  {
    files: ['scripts/*.mjs', 'eslint.config.mjs'],
    extends: [eslint.configs.recommended],
    languageOptions: { globals: { Buffer: 'readonly', console: 'readonly', process: 'readonly' } }
  },
  {
    // Preact's hooks follow React's rules.
    files: ['src/**'],
    plugins: { 'react-hooks': reactHooks },
    rules: { 'react-hooks/rules-of-hooks': 'error', 'react-hooks/exhaustive-deps': 'error' }
  },
  // The core imports no part, only `lab/index.ts` the list of them; parts do not know each other.
  restricted('src/lab/**', '(^|/)parts(/|$)', ['src/lab/index.ts', 'src/lab/parts/**']),
  restricted('src/lab/parts/*/**', '^\\.\\./[^.]'),
  restricted('src/lab/parts/index.ts', '^\\./[^/]+/'),
  {
    // Prettier leaves comments and strings as they are. Titles of tests it keeps on one line.
    rules: {
      'max-len': ['error', { code: 100, ignoreRegExpLiterals: true, ignorePattern: '^ *it\\(' }]
    }
  }
);
