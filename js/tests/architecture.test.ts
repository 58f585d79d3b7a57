import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = join(process.cwd(), 'src');

function imports(folder: string): { file: string; from: string }[] {
  const files = readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.tsx?$/.test(name)
  );
  return files.flatMap(name => {
    const text = readFileSync(join(SRC, folder, name), 'utf8');
    const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g);
    return [...found].map(match => ({ file: `${folder}/${name}`, from: match[1] ?? '' }));
  });
}

/** Card and panel share components only as long as these stay free of both. */
describe('who may import whom', () => {
  it('shared code knows neither Lab nor anywidget', () => {
    const wrong = imports('shared').filter(({ file, from }) => {
      const isOutside =
        from.startsWith('.') && !normalize(join(file, '..', from)).startsWith('shared/');
      return isOutside || !/^(\.\.?\/|preact$|preact\/)/.test(from);
    });
    expect(wrong).toEqual([]);
    expect(imports('shared').length).toBeGreaterThan(20);
  });

  it('widgets do not know Lab, as its packages would end up in every notebook', () => {
    const wrong = imports('widgets').filter(({ from }) =>
      /^@jupyterlab|^@lumino|\/lab\//.test(from)
    );
    expect(wrong).toEqual([]);
  });

  it('Lab plugins do not know the widgets', () => {
    const wrong = imports('lab').filter(({ from }) => /anywidget|\/widgets\//.test(from));
    expect(wrong).toEqual([]);
  });

  it('nothing knows a part but the list, and that is known only to the entry point', () => {
    const reached = imports('lab')
      .filter(({ from }) => from.startsWith('.'))
      .map(({ file, from }) => ({ file, to: normalize(join(file, '..', from)) }))
      .filter(({ to }) => /^lab\/parts(\/|$)/.test(to));
    const partOf = (path: string): string | undefined => /^lab\/parts\/([^/.]+)/.exec(path)?.[1];
    const outside = reached.filter(({ file, to }) => {
      const [from, part] = [partOf(file), partOf(to)];
      return from === 'index' || from === undefined || from !== part;
    });
    expect(outside.filter(({ file }) => file !== 'lab/parts/index.ts')).toEqual([
      { file: 'lab/index.ts', to: 'lab/parts' }
    ]);
    const listed = outside.filter(({ file }) => file === 'lab/parts/index.ts');
    const folders = readdirSync(join(SRC, 'lab/parts'), { withFileTypes: true })
      .filter(one => one.isDirectory())
      .map(({ name }) => `lab/parts/${name}`);
    expect(listed.map(({ to }) => to).sort()).toEqual(folders.sort());
  });
});
