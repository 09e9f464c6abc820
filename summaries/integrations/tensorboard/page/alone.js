// Where the page starts without TensorBoard: `gradledger view`.

import { render } from "./plugin.js";

render();
