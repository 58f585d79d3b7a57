import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/**
 * A component that is fetched when it is first drawn, and draws nothing until then: what most pages
 * never need is kept out of what all of them load. A widget's script has it all in one.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>
): (props: Props) => VNode | null {
  let Loaded: ComponentType<Props> | null = null;
  return function Lazy(props: Props) {
    const [, draw] = useState(false);
    useEffect(() => {
      let isDrawn = true;
      void load().then(
        component => {
          Loaded = component;
          if (isDrawn) {
            draw(true);
          }
        },
        () => undefined
      );
      return () => {
        isDrawn = false;
      };
    }, []);
    return Loaded && <Loaded {...props} />;
  };
}
