// Files that are dropped anywhere on the page lead to the deploy page.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icons";
import { dropped, readDrop } from "../parts/pack";
import { go } from "./router";

export function DropHere() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    let leaves: ReturnType<typeof setTimeout> | undefined;
    const drag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
      clearTimeout(leaves);
      leaves = setTimeout(() => setOver(false), 300);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      void readDrop(event.dataTransfer).then((files) => {
        dropped.value = files;
        go("/deploy");
      });
    };
    addEventListener("dragover", drag);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("drop", drop);
    };
  }, []);
  return over ? <div class="drop-here" role="status"><Icon name="upload" size={24} /> Drop to see what would be deployed</div> : null;
}
