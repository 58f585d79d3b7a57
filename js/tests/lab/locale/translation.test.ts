import { Gettext, type ITranslator } from '@jupyterlab/translation';
import { afterEach, describe, expect, it } from 'vitest';

import { loadTranslation } from '../../../src/lab/locale/translation';
import { counted, translateKnown, setTranslation, t } from '../../../src/shared/text/translate';

function lab(languageCode: string): ITranslator {
  const load = (): object => ({ __: (text: string) => `${languageCode} ${text}` });
  return { languageCode, load } as unknown as ITranslator;
}

describe('the language', () => {
  afterEach(() => setTranslation(null));

  it.each(['de-DE', 'de', 'de-AT'])('is German where Lab is (%s), in all its forms', async code => {
    setTranslation(await loadTranslation(lab(code)));
    expect(t('Execute plan')).toBe('Plan ausführen');
    expect(t('Step %1 of %2', '1', '3')).toBe('Schritt 1 von 3');
    expect(counted(1, '%1 file', '%1 files')).toBe('1 Datei');
    expect(counted(2, '%1 file', '%1 files')).toBe('2 Dateien');
    expect(translateKnown('Skip this step')).toBe('Diesen Schritt überspringen');
    expect(translateKnown('What the agent made up')).toBe('What the agent made up');
  });

  it('counts as Lab does, with values after the number', () => {
    const words = ['%1 thing in %2', '%1 things in %2'] as const;
    for (const language of [null, new Gettext({ domain: 'x', locale: 'en' })]) {
      setTranslation(language);
      expect(counted(1, ...words, 'a.ipynb')).toBe('1 thing in a.ipynb');
      expect(counted(3, ...words, 'a.ipynb')).toBe('3 things in a.ipynb');
    }
  });

  it.each(['en', 'fr-FR', 'constructor'])('is otherwise left to Lab (%s)', async code => {
    setTranslation(await loadTranslation(lab(code)));
    expect(t('Save')).toBe(`${code} Save`);
  });
});
