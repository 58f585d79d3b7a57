// Type-checks and bundles the browser side without the parts in `src/lab/parts`. With `--each` it
// type-checks without one of them at a time, which takes long, and follows from who may import whom
// (`eslint.config.mjs`, `tests/architecture.test.ts`). Nothing is copied: the files of a part, its
// tests and its line in the list are not read. Types are checked anew only where they depend on it.
import { build } from 'esbuild';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const js = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(js, 'src', 'lab', 'parts');
const list = join(folder, 'index.ts');
const parts = readdirSync(folder, { withFileTypes: true })
  .filter(one => one.isDirectory())
  .map(({ name }) => name);
const { fileNames, options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(js, 'tsconfig.test.json'), ts.sys.readFile).config,
  ts.sys,
  js
);

/** Whether it belongs to one of these parts, or tests it. */
const isOf = (file, gone) => gone.some(name => file.includes(`/lab/parts/${name}/`));

function read(file, gone) {
  const text = ts.sys.readFile(file);
  const isLine = line =>
    gone.some(name =>
      [`import { ${name} } from './${name}';`, `  ${name}`, `  ${name},`].includes(line)
    );
  return file === list
    ? text
        .split('\n')
        .filter(line => !isLine(line))
        .join('\n')
    : text;
}

const sources = new Map();

/** Says what is wrong without these parts. What `known` has checked is not checked again. */
function check(gone, known) {
  const partial = {
    ...host,
    fileExists: file => !isOf(file, gone) && ts.sys.fileExists(file),
    readFile: file => read(file, gone),
    getSourceFile(file, languageVersion) {
      if (file === list || !sources.has(file)) {
        const text = read(file, gone);
        const source = text === undefined ? text : ts.createSourceFile(file, text, languageVersion);
        if (source) {
          source.version = ts.sys.createHash(text);
        }
        sources.set(file, source);
      }
      return sources.get(file);
    }
  };
  const files = fileNames.filter(file => !isOf(file, gone));
  const program = ts.createSemanticDiagnosticsBuilderProgram(files, options, partial, known);
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics()
  ];
  if (found.length > 0) {
    console.error(`Without ${gone.join(', ')}:\n${ts.formatDiagnostics(found, partial)}`);
    process.exitCode = 1;
  }
  return program;
}

for (const name of parts) {
  if (!read(list, []).includes(`./${name}'`)) {
    console.error(`src/lab/parts/${name} is not in the list of parts.`);
    process.exitCode = 1;
  }
}
const host = ts.createIncrementalCompilerHost(options);
// What `tsc` has just found, if it was asked.
let known = ts.readBuilderProgram(options, host);
for (const gone of process.argv.includes('--each') ? parts.map(name => [name]) : [parts]) {
  known = check(gone, known);
}
await build({
  absWorkingDir: js,
  entryPoints: ['src/lab/index.ts'],
  outdir: 'lib',
  write: false,
  bundle: true,
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
  plugins: [
    {
      name: 'without-parts',
      setup({ onLoad }) {
        onLoad({ filter: /\/src\/lab\/parts\/.*\.tsx?$/ }, ({ path }) =>
          path === list
            ? { contents: read(list, parts), loader: 'ts' }
            : { errors: [{ text: 'This part is gone.' }] }
        );
      }
    }
  ]
});
